"""python3 -m gradcomp.report"""
import sys

from .cli import main

sys.exit(main())
