#!/usr/bin/env python3
"""Recomputes the losses of a Transformer language model in float64 with NumPy alone, and checks its gradient by differences.

    transformer_numpy.py PROGRAM [--dtype float|double] [--layers 2] [--units 36] [--heads 3] [--tied]
                         [--vocabulary 53] [--length 7] [--sequences 5]

PROGRAM is language_dump (language_dump.cpp), which writes parameters, batches and results. It runs with 1 and with 2
threads, which must agree bit for bit. Tolerances: losses 1e-6 in float and 1e-12 in double; for each tensor, the
derivatives along three random directions 1e-4 and 1e-7 of the norm of that tensor's gradient.
"""

import sys

import numpy as np

from language_results import Results, cross_entropy, main

EPSILON = 1e-5


def norm(x, tensors, name):
    centred = x - x.mean(-1, keepdims=True)
    scale = np.sqrt((centred**2).mean(-1, keepdims=True) + EPSILON)
    return centred / scale * tensors[name + ".weight"] + tensors[name + ".bias"]


def linear(x, tensors, name):
    return x @ tensors[name + ".weight"] + tensors[name + ".bias"]


def attention(qkv, heads):
    """qkv: [sequence][step][3 units]."""
    sequences, steps, wide = qkv.shape
    q, k, v = qkv.reshape(sequences, steps, 3, heads, wide // 3 // heads).transpose(2, 0, 3, 1, 4)
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(q.shape[-1])
    scores = np.where(np.tril(np.ones((steps, steps), bool)), scores, -np.inf)
    power = np.exp(scores - scores.max(-1, keepdims=True))
    result = power / power.sum(-1, keepdims=True) @ v
    return result.transpose(0, 2, 1, 3).reshape(sequences, steps, wide // 3)


def gelu(x):
    return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def loss(tensors, blocks, heads, tokens, labels):
    x = tensors["embedding.weight"][tokens] + tensors["position.weight"]
    for number in range(1, blocks + 1):
        name = f"block{number}."
        qkv = linear(norm(x, tensors, name + "norm1"), tensors, name + "attention.input")
        x = x + linear(attention(qkv, heads), tensors, name + "attention.output")
        hidden = gelu(linear(norm(x, tensors, name + "norm2"), tensors, name + "mlp.input"))
        x = x + linear(hidden, tensors, name + "mlp.output")
    matrix = tensors.get("decoder.weight", tensors["embedding.weight"].T)
    return cross_entropy(norm(x, tensors, "norm") @ matrix + tensors["decoder.bias"], labels)[0]


def compare(arguments, folder):
    results = Results(arguments, "transformer", arguments.heads, folder)

    def value(parameters, number):
        tensors = results.tensors(parameters)
        return loss(tensors, arguments.layers, arguments.heads, results.tokens[number], results.labels[number])

    for i, number in enumerate((0, 1, 1)):
        error = abs(results.losses[i] / value(results.parameters, number) - 1)
        results.check(f"loss {i + 1}", error, 1e-12 if results.double else 1e-6)
    generator, step = np.random.default_rng(1), 1e-4
    for name, place in results.places.items():
        worst = 0
        for _ in range(3):
            direction = np.zeros_like(results.parameters)
            direction[place] = generator.standard_normal(place.stop - place.start)
            direction /= np.linalg.norm(direction)
            ends = [value(results.parameters + factor * step * direction, 1) for factor in (-2, -1, 1, 2)]
            slope = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * step)
            worst = max(worst, abs(slope - results.gradient @ direction))
        worst /= np.linalg.norm(results.gradient[place])
        results.check(f"derivatives by {name}", worst, 1e-7 if results.double else 1e-4)
    return results.failures


if __name__ == "__main__":
    sizes = {"layers": 2, "units": 36, "heads": 3, "vocabulary": 53, "length": 7, "sequences": 5}
    sys.exit(main(__doc__.split("\n")[0], sizes, compare))
