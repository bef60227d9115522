"""python3 -m gradcomp.links"""
import sys

from .cli import main

sys.exit(main())
