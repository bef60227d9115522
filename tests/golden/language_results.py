"""Runs language_dump and reads what it writes, for lstm_numpy.py and transformer_numpy.py."""

import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np


class Results:
    """Arrays of a run: `tensors` and the flat `gradient` in float64, with the names of `places`; tokens and labels
    [batch][sequence][step]; `state` and `new_state`, flat; the printed losses; `failures`."""

    def __init__(self, arguments, kind, third, folder):
        self.double = arguments.dtype == "double"
        one, two = os.path.join(folder, "1"), os.path.join(folder, "2")
        os.mkdir(one), os.mkdir(two)
        self.losses, self.failures = self._run(arguments, kind, third, one, 1), []
        if self.losses != self._run(arguments, kind, third, two, 2):
            self.failures.append("losses differ between 1 and 2 threads")
        for name in ("gradient", "new_state"):
            with open(os.path.join(one, name), "rb") as a, open(os.path.join(two, name), "rb") as b:
                if a.read() != b.read():
                    self.failures.append(f"{name} differs between 1 and 2 threads")

        def read(name):
            return np.fromfile(os.path.join(one, name), np.float64 if self.double else np.float32).astype(np.float64)

        self.parameters, self.gradient = read("parameters"), read("gradient")
        self.state, self.new_state = read("state"), read("new_state")
        self.places, self.shapes = {}, {}
        with open(os.path.join(one, "layout.txt")) as layout:
            for line in layout:
                name, offset, *shape = line.split()
                self.shapes[name] = [int(extent) for extent in shape]
                self.places[name] = slice(int(offset), int(offset) + int(np.prod(self.shapes[name])))
        if sum(place.stop - place.start for place in self.places.values()) != len(self.parameters):
            self.failures.append("layout.txt does not cover the parameters")
        shape = (2, arguments.sequences, arguments.length)
        self.tokens, self.labels = (
            np.fromfile(os.path.join(one, name), np.int32).reshape(shape) for name in ("tokens", "labels")
        )

    @staticmethod
    def _run(arguments, kind, third, folder, threads):
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OMP_PROC_BIND="false")
        numbers = (arguments.layers, arguments.units, third, int(arguments.tied), arguments.vocabulary)
        numbers += (arguments.length, arguments.sequences)
        command = [arguments.program, folder, arguments.dtype, kind, *map(str, numbers)]
        text = subprocess.run(command, check=True, env=environment, capture_output=True, text=True).stdout
        return [float(word) for word in text.split()]

    def tensors(self, parameters):
        """`parameters` by name, with their shapes."""
        return {name: parameters[place].reshape(self.shapes[name]) for name, place in self.places.items()}

    def check(self, name, error, limit):
        print(f"{name}: relative error {error:.2e}, limit {limit:.0e}")
        if not error <= limit:  # also true for NaN
            self.failures.append(f"{name} is off by {error:.2e}")


def relative_error(value, reference):
    return np.linalg.norm(value - reference) / np.linalg.norm(reference)


def cross_entropy(logits, labels):
    """The mean loss and its gradient with respect to the logits."""
    power = np.exp(logits - logits.max(-1, keepdims=True))
    softmax = power / power.sum(-1, keepdims=True)
    hot = np.eye(logits.shape[-1])[labels]
    return -np.log((softmax * hot).sum(-1)).mean(), (softmax - hot) / labels.size


def main(description, defaults, compare):
    """Calls compare(arguments, folder), which returns the failures. Exits with status 1 if there are any."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("program")
    parser.add_argument("--dtype", choices=("float", "double"), default="float")
    for name, value in defaults.items():
        parser.add_argument("--" + name, type=int, default=value)
    parser.add_argument("--tied", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        failures = compare(arguments, folder)
    for failure in failures:
        print("FAILED:", failure, file=sys.stderr)
    return 1 if failures else 0
