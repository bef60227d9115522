"""One page of docs/results with its own options: python3 -m gradcomp.pages.one NAME OPTIONS..."""
import importlib
import sys

from . import frame

if __name__ == "__main__":
    sys.exit(frame.main(importlib.import_module(f"gradcomp.pages.{sys.argv[1]}").PAGE, sys.argv[2:]))
