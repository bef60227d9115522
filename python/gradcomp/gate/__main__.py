"""python3 -m gradcomp.gate"""
import sys

from .cli import main

sys.exit(main())
