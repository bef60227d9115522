"""The files of example_results.py as tools read them. Stand-ins for programs import that module, and none of ours."""
import json
import pathlib

import example_results
from gradcomp.report import frames, verdicts
from gradcomp.results.judge import judged
from gradcomp.results.reading import Record


def record(document):
    """The record of a result file."""
    return Record(pathlib.Path("example.json"), document["context"], document["benchmarks"])


def training():
    """The frame of the example of a training."""
    return frames.training(record(example_results.train()))


def methods(document=None):
    """The methods of a training, which is the example if none is given."""
    return verdicts.trained(record(document or example_results.train()))


def over_seeds(document, seeds=(1, 2, 3), change=lambda row: None):
    """The training as if it had several seeds, whose qualities differ a little, judged again. `change`: applied to each row first."""
    rows = []
    for row in document["benchmarks"]:
        for seed in seeds:
            one = json.loads(json.dumps(row)) | {"seed": seed}
            one["curve"]["quality"] = [None if value is None else value * (1 + 0.01 * seed) for value in one["curve"]["quality"]]
            change(one)
            rows.append(one)
    document = document | {"benchmarks": rows}
    return document | {"benchmarks": judged(document)}
