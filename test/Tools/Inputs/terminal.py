# SPDX-License-Identifier: MIT OR Apache-2.0
"""terminal.py COMMAND...: runs it with a terminal as its stderr, prints what the terminal got."""
import os
import pty
import subprocess
import sys

ours, theirs = pty.openpty()
process = subprocess.Popen(sys.argv[1:], stderr=theirs, stdout=subprocess.DEVNULL)
os.close(theirs)
text = b""
while True:
    try:
        part = os.read(ours, 4096)
    except OSError:  # how Linux reports that nobody has the other end open
        break
    if not part:
        break
    text += part
print(text.decode().replace("\r\x1b[K", "<clear>\n"))
sys.exit(process.wait())
