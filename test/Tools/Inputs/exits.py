# SPDX-License-Identifier: MIT OR Apache-2.0
"""exits.py STATUS COMMAND...: passes if the command exits with that status."""
import subprocess
import sys

status = subprocess.run(sys.argv[2:], check=False).returncode
if status != int(sys.argv[1]):
    sys.exit(f"exit status {status} instead of {sys.argv[1]}: {sys.argv[2:]}")
