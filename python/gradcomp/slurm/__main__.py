"""python3 -m gradcomp.slurm submit|gather|run_point ARGUMENTS..."""
import sys

from . import cli

sys.exit({"submit": cli.submit_main, "gather": cli.gather_main, "run_point": cli.run_point_main}[sys.argv[1]](sys.argv[2:]))
