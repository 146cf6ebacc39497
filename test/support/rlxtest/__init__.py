# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the Python test suites share: graphs, weight files, tools and runtime."""
