"""python3 -m gradcomp.datasets"""
import sys

from .cli import main

sys.exit(main())
