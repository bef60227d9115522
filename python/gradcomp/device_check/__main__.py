"""python3 -m gradcomp.device_check"""
import sys

from .cli import main

sys.exit(main())
