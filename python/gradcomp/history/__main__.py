"""python3 -m gradcomp.history"""
import sys

from .cli import main

sys.exit(main())
