#!/usr/bin/env python3
"""Recomputes two training steps of an LSTM language model in float64 with NumPy alone: losses, gradient, hidden state.

    lstm_numpy.py PROGRAM [--dtype float|double] [--layers 2] [--units 37] [--embedding 19] [--tied] [--vocabulary 53]
                  [--length 6] [--sequences 13]

PROGRAM is language_dump (language_dump.cpp), which writes parameters, batches and results. It runs with 1 and with 2
threads, which must agree bit for bit. Tolerances: relative L2 error of the gradient at most 1e-5 in float and 1e-11 in
double, of the losses 1e-6 and 1e-12, of the hidden state 1e-6 and 1e-12.
"""

import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np


def logistic(x):
    return 1 / (1 + np.exp(-x))


class Network:
    """`tensors` maps names to float64 arrays; `state` is [layer][h, c][sequence][unit]."""

    def __init__(self, tensors, layers, state):
        self.tensors, self.layers, self.state = tensors, layers, state.copy()
        self.gradients = {}

    def layer(self, x, number):
        """h of all steps for x [sequence][step][in]; and a function from its gradient to x's."""
        prefix = f"lstm.layer{number + 1}."
        w, u = self.tensors[prefix + "input.weight"], self.tensors[prefix + "hidden.weight"]
        bias = self.tensors[prefix + "input.bias"] + self.tensors[prefix + "hidden.bias"]
        sequences, steps = x.shape[:2]
        h, c = self.state[number, 0, :sequences].copy(), self.state[number, 1, :sequences].copy()
        record, output = [], np.empty((sequences, steps, u.shape[0]))
        for t in range(steps):
            sums = (x[:, t] @ w + h @ u + bias).reshape(sequences, 4, -1)
            i, f, o, g = logistic(sums[:, 0]), logistic(sums[:, 1]), logistic(sums[:, 3]), np.tanh(sums[:, 2])
            record.append((h, c, i, f, g, o))
            c = f * c + i * g
            h = o * np.tanh(c)
            output[:, t] = h
        self.state[number, 0, :sequences], self.state[number, 1, :sequences] = h, c

        def backward(gradient):
            dw, du, db, dx = np.zeros_like(w), np.zeros_like(u), np.zeros_like(bias), np.empty_like(x)
            dh, dc = np.zeros_like(h), np.zeros_like(c)
            for t in reversed(range(steps)):
                before, cell, i, f, g, o = record[t]
                dh = dh + gradient[:, t]
                tanh = np.tanh(f * cell + i * g)
                dc = dc + dh * o * (1 - tanh**2)
                sums = np.concatenate(
                    [dc * g * i * (1 - i), dc * cell * f * (1 - f), dc * i * (1 - g**2), dh * tanh * o * (1 - o)], 1
                )
                dc = dc * f
                dh, dx[:, t] = sums @ u.T, sums @ w.T
                dw, du, db = dw + x[:, t].T @ sums, du + before.T @ sums, db + sums.sum(0)
            self.gradients[prefix + "input.weight"], self.gradients[prefix + "hidden.weight"] = dw, du
            self.gradients[prefix + "input.bias"] = self.gradients[prefix + "hidden.bias"] = db
            return dx

        return output, backward

    def run(self, tokens, labels):
        """Mean loss; fills `gradients` and moves `state`."""
        table = self.tensors["embedding.weight"]
        tied = "decoder.weight" not in self.tensors
        matrix = table.T if tied else self.tensors["decoder.weight"]
        x, backwards = table[tokens], []
        for number in range(self.layers):
            x, backward = self.layer(x, number)
            backwards.append(backward)
        logits = x @ matrix + self.tensors["decoder.bias"]
        power = np.exp(logits - logits.max(2, keepdims=True))
        softmax = power / power.sum(2, keepdims=True)
        hot = np.eye(table.shape[0])[labels]
        dy = (softmax - hot) / tokens.size
        self.gradients["decoder.bias"] = dy.sum((0, 1))
        of_matrix = np.tensordot(x, dy, axes=((0, 1), (0, 1)))
        dx = dy @ matrix.T
        for backward in reversed(backwards):
            dx = backward(dx)
        of_table = np.tensordot(np.eye(table.shape[0])[tokens], dx, axes=((0, 1), (0, 1)))
        if tied:
            of_table = of_table + of_matrix.T
        else:
            self.gradients["decoder.weight"] = of_matrix
        self.gradients["embedding.weight"] = of_table
        return -np.log((softmax * hot).sum(2)).mean()


def dump(arguments, folder, threads):
    """The losses it prints."""
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OMP_PROC_BIND="false")
    numbers = (arguments.layers, arguments.units, arguments.embedding, int(arguments.tied), arguments.vocabulary)
    numbers += (arguments.length, arguments.sequences)
    command = [arguments.program, folder, arguments.dtype, *map(str, numbers)]
    text = subprocess.run(command, check=True, env=environment, capture_output=True, text=True).stdout
    return [float(word) for word in text.split()]


def relative_error(value, reference):
    return np.linalg.norm(value - reference) / np.linalg.norm(reference)


def compare(arguments, folder):
    """List of lines about what is wrong."""
    one, two = os.path.join(folder, "1"), os.path.join(folder, "2")
    os.mkdir(one), os.mkdir(two)
    losses = dump(arguments, one, 1)
    failures = [] if losses == dump(arguments, two, 2) else ["losses differ between 1 and 2 threads"]
    for name in ("gradient", "new_state"):
        with open(os.path.join(one, name), "rb") as a, open(os.path.join(two, name), "rb") as b:
            if a.read() != b.read():
                failures.append(f"{name} differs between 1 and 2 threads")

    double = arguments.dtype == "double"

    def read(name, dtype=np.float64 if double else np.float32):
        return np.fromfile(os.path.join(one, name), dtype)

    parameters, tensors, places = read("parameters").astype(np.float64), {}, {}
    with open(os.path.join(one, "layout.txt")) as layout:
        for line in layout:
            name, offset, *shape = line.split()
            shape = [int(extent) for extent in shape]
            places[name] = slice(int(offset), int(offset) + int(np.prod(shape)))
            tensors[name] = parameters[places[name]].reshape(shape)
    if sum(place.stop - place.start for place in places.values()) != len(parameters):
        failures.append("layout.txt does not cover the parameters")
    shape = (2, arguments.sequences, arguments.length)
    tokens, labels = read("tokens", np.int32).reshape(shape), read("labels", np.int32).reshape(shape)
    state = read("state").astype(np.float64).reshape(arguments.layers, 2, -1, arguments.units)

    network = Network(tensors, arguments.layers, state)
    reference = [network.run(tokens[0], labels[0]), network.run(tokens[1], labels[1])]
    reference.append(Network(tensors, arguments.layers, np.zeros_like(state)).run(tokens[1], labels[1]))
    expected = np.concatenate([network.gradients[name].ravel() for name in places])
    checks = [(f"loss {i + 1}", abs(losses[i] / reference[i] - 1), 1e-12 if double else 1e-6) for i in range(3)]
    checks += [
        ("gradient", relative_error(read("gradient"), expected), 1e-11 if double else 1e-5),
        ("hidden state", relative_error(read("new_state"), network.state.ravel()), 1e-12 if double else 1e-6),
    ]
    for name, error, limit in checks:
        print(f"{name}: relative error {error:.2e}, limit {limit:.0e}")
        if not error <= limit:  # a NaN fails too
            failures.append(f"{name} is off by {error:.2e}")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--dtype", choices=("float", "double"), default="float")
    for name, value in (("layers", 2), ("units", 37), ("embedding", 19), ("vocabulary", 53), ("length", 6)):
        parser.add_argument("--" + name, type=int, default=value)
    parser.add_argument("--sequences", type=int, default=13)
    parser.add_argument("--tied", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        failures = compare(arguments, folder)
    for failure in failures:
        print("FAILED:", failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
