"""Layers of image models in NumPy alone, with which image_models_numpy.py compares the library. Maps are [n, h, w, c],
filters [kh, kw, in, out]. A 3x3 filter has padding 1, and a 1x1 filter has none."""

import numpy as np

EPSILON, MOMENTUM = 1e-5, 0.1


def patches(x, extent, stride):
    """[n, h, w, c] -> [n, h / stride, w / stride, extent, extent, c]."""
    border = extent // 2
    padded = np.pad(x, ((0, 0), (border, border), (border, border), (0, 0)))
    view = np.lib.stride_tricks.sliding_window_view(padded, (extent, extent), axis=(1, 2))
    return view[:, ::stride, ::stride].transpose(0, 1, 2, 4, 5, 3)


def conv(x, weight, stride):
    return np.tensordot(patches(x, len(weight), stride), weight, axes=3)


def conv_backward(x, weight, stride, gradient):
    """The gradients of the weight and of x."""
    extent = len(weight)
    border = extent // 2
    weight_gradient = np.tensordot(patches(x, extent, stride), gradient, axes=((0, 1, 2), (0, 1, 2)))
    padded = np.zeros((x.shape[0], x.shape[1] + 2 * border, x.shape[2] + 2 * border, x.shape[3]))
    height, width = gradient.shape[1:3]
    for row in range(extent):
        for column in range(extent):
            padded[:, row : row + stride * height : stride, column : column + stride * width : stride] += (
                gradient @ weight[row, column].T
            )
    return weight_gradient, padded[:, border : border + x.shape[1], border : border + x.shape[2]]


def batch_norm_backward(normalised, deviation, scale, gradient):
    axes = (0, 1, 2)
    scale_gradient, shift_gradient = (gradient * normalised).sum(axes), gradient.sum(axes)
    count = gradient[..., 0].size
    inner = gradient - shift_gradient / count - normalised * scale_gradient / count
    return scale_gradient, shift_gradient, scale / deviation * inner


def shortcut(x, channels):
    """The shortcut of option A: every second pixel, with channels of zeros added on both sides."""
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


def max_pool(x):
    """The maxima of 2x2 squares, and a function that maps their gradient to that of x."""
    n, height, width, channels = x.shape
    squares = x.reshape(n, height // 2, 2, width // 2, 2, channels).transpose(0, 1, 3, 5, 2, 4).reshape(-1, 4)
    place = squares.argmax(1)
    rows = np.arange(len(place))

    def backward(gradient):
        spread = np.zeros(squares.shape)
        spread[rows, place] = gradient.ravel()
        return spread.reshape(n, height // 2, width // 2, channels, 2, 2).transpose(0, 1, 4, 2, 5, 3).reshape(x.shape)

    return squares[rows, place].reshape(n, height // 2, width // 2, channels), backward
