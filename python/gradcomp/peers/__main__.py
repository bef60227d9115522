"""Starts peers_ddp: python3 -m gradcomp.peers."""
import os
import sys

from .cli import main

if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # Threads of PyTorch may outlive the interpreter's clean-up, which then ends the process with SIGABRT (one of seven jobs did).
    os._exit(status)
