"""Forward and backward pass of an image model in NumPy alone."""

import numpy as np

from numpy_layers import EPSILON, MOMENTUM, batch_norm_backward, conv, conv_backward, max_pool, shortcut, shortcut_backward


class Network:
    """The network that the names of its tensors describe. `tensors` maps names to float64 arrays, in the order of the forward
    pass; `state` contains the running statistics, flat."""

    def __init__(self, tensors, state, training):
        self.tensors, self.state, self.training = tensors, state.copy(), training
        self.gradients, self.position = {}, 0

    def unit(self, x, conv_name, norm, stride):
        """Convolution and batch norm. Returns the result and a function that maps its gradient to that of x."""
        conv_name += ".weight"
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

    def block(self, x, prefix):
        """Two units with a shortcut: option B if the block has a projection, otherwise option A."""
        channels = self.tensors[prefix + "conv1.weight"].shape[3]
        stride = 1 if x.shape[3] == channels else 2
        first, first_backward = self.unit(x, prefix + "conv1", prefix + "bn1", stride)
        hidden = np.maximum(first, 0)
        second, second_backward = self.unit(hidden, prefix + "conv2", prefix + "bn2", 1)
        projected = prefix + "shortcut.conv.weight" in self.tensors
        if projected:
            branch, branch_backward = self.unit(x, prefix + "shortcut.conv", prefix + "shortcut.bn", stride)
        else:
            branch = shortcut(x, channels)
        result = second + branch

        def backward(gradient):
            gradient = gradient * (result > 0)
            inner = second_backward(gradient) * (first > 0)
            around = branch_backward(gradient) if projected else shortcut_backward(gradient, x.shape)
            return first_backward(inner) + around

        return np.maximum(result, 0), backward

    def rectified_unit(self, x, conv_name, norm):
        result, result_backward = self.unit(x, conv_name, norm, 1)
        return np.maximum(result, 0), lambda gradient: result_backward(gradient * (result > 0))

    def resnet(self, x):
        """The features [n, channels], and for each part a function that maps the gradient of its result to that of its input."""
        x, backward = self.rectified_unit(x, "conv1", "bn1")
        backwards = [backward]
        for name in self.tensors:
            if name.endswith(".conv1.weight"):
                x, backward = self.block(x, name.removesuffix("conv1.weight"))
                backwards.append(backward)
        shape = x.shape
        backwards.append(lambda g: np.broadcast_to(g[:, None, None] / (shape[1] * shape[2]), shape))
        return x.mean((1, 2)), backwards

    def vgg(self, x):
        names = [name.removesuffix(".weight") for name in self.tensors if name.split(".")[1].startswith("conv")]
        backwards = []
        for name, following in zip(names, [*names[1:], ""], strict=True):
            x, backward = self.rectified_unit(x, name, name.replace("conv", "bn"))
            backwards.append(backward)
            if name.split(".")[0] != following.split(".")[0]:
                x, backward = max_pool(x)
                backwards.append(backward)
        shape = x.shape
        backwards.append(lambda g: g.reshape(shape))
        return x.reshape(len(x), -1), backwards

    def linear(self, x, name, rectify):
        weight = self.tensors[name + ".weight"]
        y = x @ weight + self.tensors[name + ".bias"]

        def backward(gradient):
            gradient = gradient * (y > 0) if rectify else gradient
            self.gradients[name + ".weight"], self.gradients[name + ".bias"] = x.T @ gradient, gradient.sum(0)
            return gradient @ weight.T

        return np.maximum(y, 0) if rectify else y, backward

    def run(self, images, labels):
        """The mean loss. In training, fills `gradients` and updates `state`."""
        x, backwards = (self.resnet if "conv1.weight" in self.tensors else self.vgg)(images)
        for name in self.tensors:
            if name.startswith("hidden") and name.endswith(".weight"):
                x, backward = self.linear(x, name.removesuffix(".weight"), True)
                backwards.append(backward)
        logits, backward = self.linear(x, "linear", False)
        backwards.append(backward)
        logits -= logits.max(1, keepdims=True)
        log_softmax = logits - np.log(np.exp(logits).sum(1, keepdims=True))
        rows = np.arange(len(labels))
        loss = -log_softmax[rows, labels].mean()
        if not self.training:
            return loss
        gradient = np.exp(log_softmax)
        gradient[rows, labels] -= 1
        gradient /= len(labels)
        for backward in reversed(backwards):
            gradient = backward(gradient)
        return loss
