#!/usr/bin/env python3
"""Recomputes a training step of ResNet-20 in float64 with NumPy alone and compares the library's gradient with it.

    resnet20_numpy.py PROGRAM [--dtype float|double] [--extent 8] [--batch 4]

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

EPSILON, MOMENTUM = 1e-5, 0.1


def patches(x, stride):
    """[n, h, w, c] -> [n, h / stride, w / stride, 3, 3, c], zero padding 1."""
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    view = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))
    return view[:, ::stride, ::stride].transpose(0, 1, 2, 4, 5, 3)


def conv(x, weight, stride):
    return np.tensordot(patches(x, stride), weight, axes=3)


def conv_backward(x, weight, stride, gradient):
    """Gradients of the weight and of x."""
    weight_gradient = np.tensordot(patches(x, stride), gradient, axes=((0, 1, 2), (0, 1, 2)))
    padded = np.zeros((x.shape[0], x.shape[1] + 2, x.shape[2] + 2, x.shape[3]))
    height, width = gradient.shape[1:3]
    for row in range(3):
        for column in range(3):
            padded[:, row : row + stride * height : stride, column : column + stride * width : stride] += (
                gradient @ weight[row, column].T
            )
    return weight_gradient, padded[:, 1:-1, 1:-1]


def batch_norm_backward(normalised, deviation, scale, gradient):
    axes = (0, 1, 2)
    scale_gradient, shift_gradient = (gradient * normalised).sum(axes), gradient.sum(axes)
    count = gradient[..., 0].size
    inner = gradient - shift_gradient / count - normalised * scale_gradient / count
    return scale_gradient, shift_gradient, scale / deviation * inner


def shortcut(x, channels):
    """Option A: every second pixel, zero channels on both sides."""
    if x.shape[3] == channels:
        return x
    extra = (channels - x.shape[3]) // 2
    return np.pad(x[:, ::2, ::2], ((0, 0), (0, 0), (0, 0), (extra, extra)))


def shortcut_backward(gradient, shape):
    if gradient.shape == shape:
        return gradient
    result = np.zeros(shape)
    extra = (gradient.shape[3] - shape[3]) // 2
    result[:, ::2, ::2] = gradient[..., extra:-extra]
    return result


class Network:
    """ResNet-20; `tensors` maps names to float64 arrays, `state` is the flat running statistics."""

    def __init__(self, tensors, state, training):
        self.tensors, self.state, self.training = tensors, state.copy(), training
        self.gradients, self.position = {}, 0

    def unit(self, x, prefix, number, stride):
        """Convolution and batch norm; returns the result and a function from its gradient to x's."""
        conv_name, norm = f"{prefix}conv{number}.weight", f"{prefix}bn{number}"
        weight, scale, shift = (self.tensors[n] for n in (conv_name, norm + ".weight", norm + ".bias"))
        z = conv(x, weight, stride)
        channels = z.shape[3]
        running = self.state[self.position : self.position + 2 * channels].reshape(2, channels)
        self.position += 2 * channels
        if self.training:
            mean, variance = z.mean((0, 1, 2)), z.var((0, 1, 2))
            count = z[..., 0].size
            running += MOMENTUM * (np.stack([mean, variance * count / (count - 1)]) - running)
        else:
            mean, variance = running
        deviation = np.sqrt(variance + EPSILON)
        normalised = (z - mean) / deviation

        def backward(gradient):
            results = batch_norm_backward(normalised, deviation, scale, gradient)
            self.gradients[norm + ".weight"], self.gradients[norm + ".bias"], inner = results
            self.gradients[conv_name], result = conv_backward(x, weight, stride, inner)
            return result

        return normalised * scale + shift, backward

    def block(self, x, prefix, stride):
        first, first_backward = self.unit(x, prefix, 1, stride)
        hidden = np.maximum(first, 0)
        second, second_backward = self.unit(hidden, prefix, 2, 1)
        result = second + shortcut(x, second.shape[3])

        def backward(gradient):
            gradient = gradient * (result > 0)
            inner = second_backward(gradient) * (first > 0)
            return first_backward(inner) + shortcut_backward(gradient, x.shape)

        return np.maximum(result, 0), backward

    def run(self, images, labels):
        """Mean loss; in training mode fills `gradients` and moves `state`."""
        stem, stem_backward = self.unit(images, "", 1, 1)
        x, backwards = np.maximum(stem, 0), []
        for stage in range(3):
            for block in range(3):
                stride = 2 if stage > 0 and block == 0 else 1
                x, backward = self.block(x, f"stage{stage + 1}.block{block}.", stride)
                backwards.append(backward)
        pooled = x.mean((1, 2))
        logits = pooled @ self.tensors["linear.weight"] + self.tensors["linear.bias"]
        logits -= logits.max(1, keepdims=True)
        log_softmax = logits - np.log(np.exp(logits).sum(1, keepdims=True))
        rows = np.arange(len(labels))
        loss = -log_softmax[rows, labels].mean()
        if not self.training:
            return loss
        gradient = np.exp(log_softmax)
        gradient[rows, labels] -= 1
        gradient /= len(labels)
        self.gradients["linear.weight"], self.gradients["linear.bias"] = pooled.T @ gradient, gradient.sum(0)
        pixels = x.shape[1] * x.shape[2]
        inner = np.broadcast_to((gradient @ self.tensors["linear.weight"].T)[:, None, None] / pixels, x.shape)
        for backward in reversed(backwards):
            inner = backward(inner)
        stem_backward(inner * (stem > 0))
        return loss


def dump(arguments, folder, threads):
    """Runs the program; returns the two losses that it prints."""
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OMP_PROC_BIND="false")
    command = [arguments.program, folder, arguments.dtype, str(arguments.extent), str(arguments.batch)]
    text = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
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
        if not error <= limit:  # a NaN fails too
            failures.append(f"{name} is off by {error:.2e}")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
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
