"""Runs a module of this package: python3 -m gradcomp.start MODULE ARGUMENTS. tools/run.d/module calls it."""
import runpy
import sys


def main():
    module = sys.argv.pop(1)
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "gradcomp":
            raise
        print(f"{module}: error: needs the Python package '{error.name}'; in a source tree './run exec -- TOOL ...' has it",
              file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
