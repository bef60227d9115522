"""python3 -m gradcomp.pages"""
import sys

from .results import main

sys.exit(main())
