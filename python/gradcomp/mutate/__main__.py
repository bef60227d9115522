"""python3 -m gradcomp.mutate"""
import sys

from .cli import main

sys.exit(main())
