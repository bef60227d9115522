"""The files of example_results.py as tools read them. Stand-ins for programs import that module, and none of ours."""
import pathlib

import example_results
from gradcomp.report import frames
from gradcomp.results.reading import Record


def record(document):
    """The record of a result file."""
    return Record(pathlib.Path("example.json"), document["context"], document["benchmarks"])


def training():
    """The frame of the example of a training."""
    return frames.training(record(example_results.train()))
