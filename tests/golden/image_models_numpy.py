#!/usr/bin/env python3
"""Recomputes a training step of an image model in float64 with NumPy alone and compares the library's gradient with it.

    image_models_numpy.py PROGRAM [--model resnet20] [--dtype float|double] [--extent 8] [--batch 4]

PROGRAM is nn_dump (nn_dump.cpp), which writes parameters, batch and results. It runs with 1 and with 2 threads, which
must agree bit for bit. Tolerances: relative L2 error of the gradient at most 5e-3 in float (batch norm and ReLU kinks
amplify rounding) and 1e-9 in double; loss 1e-6 and 1e-10; running statistics 1e-4 and 1e-9.
"""

import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np

from numpy_network import Network


def dump(arguments, folder, threads):
    """Runs the program and returns the two losses that it prints."""
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OMP_PROC_BIND="false")
    command = [arguments.program, folder, arguments.model, arguments.dtype, str(arguments.extent), str(arguments.batch)]
    text = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    return [float(word) for word in text.split()]


def relative_error(value, reference):
    return np.linalg.norm(value - reference) / np.linalg.norm(reference)


def compare(arguments, folder):
    """A list of lines that say what is wrong."""
    one, two = os.path.join(folder, "1"), os.path.join(folder, "2")
    os.mkdir(one), os.mkdir(two)
    losses = dump(arguments, one, 1)
    failures = [] if losses == dump(arguments, two, 2) else ["losses differ between 1 and 2 threads"]
    for name in ("gradient", "new_state"):
        with open(os.path.join(one, name), "rb") as a, open(os.path.join(two, name), "rb") as b:
            if a.read() != b.read():
                failures.append(f"{name} differs between 1 and 2 threads")

    def read(name, dtype=np.float64 if arguments.dtype == "double" else np.float32):
        return np.fromfile(os.path.join(one, name), dtype)

    parameters, gradient = read("parameters").astype(np.float64), read("gradient")
    tensors, places = {}, {}
    with open(os.path.join(one, "layout.txt")) as layout:
        for line in layout:
            name, offset, *shape = line.split()
            shape = [int(extent) for extent in shape]
            places[name] = slice(int(offset), int(offset) + int(np.prod(shape)))
            tensors[name] = parameters[places[name]].reshape(shape)
    if sum(place.stop - place.start for place in places.values()) != len(parameters):
        failures.append("layout.txt does not cover the parameters")
    images = read("images").astype(np.float64).reshape(arguments.batch, arguments.extent, arguments.extent, 3)
    labels, state = read("labels", np.int32), read("state").astype(np.float64)

    training, evaluation = Network(tensors, state, True), Network(tensors, state, False)
    reference = [training.run(images, labels), evaluation.run(images, labels)]
    expected = np.concatenate([training.gradients[name].ravel() for name in places])
    double = arguments.dtype == "double"
    checks = [
        ("training loss", abs(losses[0] / reference[0] - 1), 1e-10 if double else 1e-6),
        ("evaluation loss", abs(losses[1] / reference[1] - 1), 1e-10 if double else 1e-5),
        ("gradient", relative_error(gradient, expected), 1e-9 if double else 5e-3),
        ("running statistics", relative_error(read("new_state"), training.state), 1e-9 if double else 1e-4),
    ]
    for name, error, limit in checks:
        print(f"{name}: relative error {error:.2e}, limit {limit:.0e}")
        if not error <= limit:  # also true for NaN
            failures.append(f"{name} is off by {error:.2e}")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--model", default="resnet20", help="as nn_dump knows it")
    parser.add_argument("--dtype", choices=("float", "double"), default="float")
    parser.add_argument("--extent", type=int, default=8)
    parser.add_argument("--batch", type=int, default=4)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        failures = compare(arguments, folder)
    for failure in failures:
        print("FAILED:", failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
