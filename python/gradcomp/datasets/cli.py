"""The command line of tools/datasets."""
import argparse
import pathlib

from gradcomp.guarded import guarded

from . import digits, frames, kjv, letters, packed


def main():
    parser = argparse.ArgumentParser(
        prog="gradcomp-datasets",
        description="Converts data of an installed package, or your own images and features, into files for --data "
                    "(docs/datasets.md). Convert data where you use them, and never commit them.")
    verbs = parser.add_subparsers(dest="dataset", required=True, metavar="DATASET")
    for name, module, text in (("digits", digits, "1797 handwritten digits, from scikit-learn"),
                               ("kjv", kjv, "the King James Bible, from Debian's bible-kjv")):
        verb = verbs.add_parser(name, help=text, description=text)
        verb.add_argument("output", type=pathlib.Path, help="the file to write")
        verb.set_defaults(convert=lambda options, module=module: module.convert(options.output))
    for name, module, text in (("letters", letters, "capital letters, drawn from installed fonts"),
                               ("packed", packed, "a folder of images, a sub-folder per class"),
                               ("frames", frames, "a folder of feature arrays, a sub-folder per class")):
        verb = verbs.add_parser(name, help=text, description=text)
        module.add_options(verb)
        verb.set_defaults(convert=module.convert)
    options = parser.parse_args()

    def work():
        options.convert(options)
        return 0
    return guarded("datasets", work)
