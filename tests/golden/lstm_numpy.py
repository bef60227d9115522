#!/usr/bin/env python3
"""Recomputes two training steps of an LSTM language model in float64 with NumPy alone: losses, gradient, hidden state.

    lstm_numpy.py PROGRAM [--dtype float|double] [--layers 2] [--units 37] [--embedding 19] [--tied] [--vocabulary 53]
                  [--length 6] [--sequences 13]

PROGRAM is language_dump (language_dump.cpp), which writes parameters, batches and results. It runs with 1 and with 2
threads, which must agree bit for bit. Tolerances: relative L2 error of the gradient at most 1e-5 in float and 1e-11 in
double, of the losses 1e-6 and 1e-12, of the hidden state 1e-6 and 1e-12.
"""

import sys

import numpy as np

from language_results import Results, cross_entropy, main, relative_error


def logistic(x):
    return 1 / (1 + np.exp(-x))


class Network:
    """The model. `tensors` maps names to float64 arrays; `state` is [layer][h, c][sequence][unit]."""

    def __init__(self, tensors, layers, state):
        self.tensors, self.layers, self.state = tensors, layers, state.copy()
        self.gradients = {}

    def layer(self, x, number):
        """h in all steps for x [sequence][step][in], and a function that maps its gradient to that of x."""
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
        """The mean loss. Fills `gradients` and updates `state`."""
        table = self.tensors["embedding.weight"]
        tied = "decoder.weight" not in self.tensors
        matrix = table.T if tied else self.tensors["decoder.weight"]
        x, backwards = table[tokens], []
        for number in range(self.layers):
            x, backward = self.layer(x, number)
            backwards.append(backward)
        logits = x @ matrix + self.tensors["decoder.bias"]
        loss, dy = cross_entropy(logits, labels)
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
        return loss


def compare(arguments, folder):
    results = Results(arguments, "lstm", arguments.embedding, folder)
    tokens, labels, tensors = results.tokens, results.labels, results.tensors(results.parameters)
    state = results.state.reshape(arguments.layers, 2, -1, arguments.units)
    network, fresh = Network(tensors, arguments.layers, state), Network(tensors, arguments.layers, 0 * state)
    reference = [network.run(tokens[0], labels[0]), network.run(tokens[1], labels[1]), fresh.run(tokens[1], labels[1])]
    expected = np.concatenate([network.gradients[name].ravel() for name in results.places])
    for i in range(3):
        results.check(f"loss {i + 1}", abs(results.losses[i] / reference[i] - 1), 1e-12 if results.double else 1e-6)
    results.check("gradient", relative_error(results.gradient, expected), 1e-11 if results.double else 1e-5)
    error = relative_error(results.new_state, network.state.ravel())
    results.check("hidden state", error, 1e-12 if results.double else 1e-6)
    return results.failures


if __name__ == "__main__":
    sizes = {"layers": 2, "units": 37, "embedding": 19, "vocabulary": 53, "length": 6, "sequences": 13}
    sys.exit(main(__doc__.split("\n")[0], sizes, compare))
