"""Hostile: starts a process that would outlive the run."""

import os

if os.fork() == 0:
    os._exit(0)
os.wait()
print("started a process")
