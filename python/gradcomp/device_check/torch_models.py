"""A program for the Python that has torch: trains on the models that gradcomp-bench --dump-models wrote, with the same weights
on the same batches, and times a step (forward and backward).

usage: torch_models.py OUTPUT cpu|gpu SAMPLES FOLDER
Writes {"torch", "device", "threads", "wrong", "rows": [{"model", "variant", "time_ms", "loss_error"}]}, or {"left_out": why}
without torch. `wrong`: a line for each model and precision with other losses than ours. `loss_error`: the largest relative
difference of our losses in ten steps; null for networks with dropout.
Variants: eager and graph (a CUDA graph of the step), each with fp32 and with tf32 products; on a CPU eager fp32 alone."""
import json
import math
import os
import pathlib
import re
import statistics
import sys
import time

import numpy as np

DROPOUT = {"lstm_2x650": 0.5, "frames_lstm_2x128": 0.2}
HEADS = 4
TOLERANCE = {"fp32": 1e-3, "tf32": 2e-2}  # of losses after ten steps: rounding grows from step to step


class Job:
    """A dumped model: tensors by name, batch and losses."""

    def __init__(self, torch, folder, device):
        self.torch, self.device = torch, device
        self.known = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        self.name, self.samples = self.known["model"], self.known["samples"]
        flat = np.load(folder / "parameters.npy")
        self.initial = {}
        for tensor in self.known["tensors"]:
            count = math.prod(tensor["shape"])
            values = flat[tensor["offset"]:tensor["offset"] + count].reshape(tensor["shape"])
            self.initial[tensor["name"]] = torch.from_numpy(values.copy()).to(device)
        self.features = torch.from_numpy(np.load(folder / "features.npy")).to(device)
        self.labels = torch.from_numpy(np.load(folder / "labels.npy").astype(np.int64)).to(device)
        self.tokens = torch.from_numpy(np.load(folder / "tokens.npy").astype(np.int64)).to(device)
        self.dropout = DROPOUT.get(self.name, 0.0)
        if self.features.numel():
            shape = [self.samples, self.known["height"], self.known["width"], 3] if self.known["height"] else [
                self.samples, self.known["length"], -1]
            self.features = self.features.view(shape)
        if self.tokens.numel():
            self.tokens = self.tokens.view(self.samples, self.known["length"])
        if self.name.startswith(("resnet", "vgg")):
            self.features = self.features.permute(0, 3, 1, 2)  # NHWC in memory: torch calls it channels_last
            self.forward = self.resnet if self.name.startswith("resnet") else self.vgg
        elif self.name.startswith("transformer"):
            self.forward = self.transformer
        else:
            self.forward = self.lstm
        self.reset()

    def reset(self):
        """Initial weights, in the layouts of torch, as leaves of autograd."""
        torch, self.state, self.weights = self.torch, [], {}
        for name, value in self.initial.items():
            if name.endswith(".weight") and value.dim() == 4:  # [kh][kw][in][out]
                value = value.permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
            elif name.endswith(".weight") and value.dim() == 2 and "embedding" not in name and "position" not in name:
                value = value.t().contiguous()  # [in][out]
            self.weights[name] = value.clone().requires_grad_(True)
        if self.name.startswith(("lstm", "frames")):
            layers, units = int(self.name[self.name.rindex("_") + 1]), self.units()
            self.state = [torch.zeros(layers, self.samples, units, device=self.device) for _ in range(2)]
            self.lstm_layers = torch.nn.LSTM(self.initial["lstm.layer1.input.weight"].shape[0], units, layers, batch_first=True,
                                             dropout=self.dropout).to(self.device)
            own = {f"{kind}_{part}_l{number}": f"lstm.layer{number + 1}.{long}.{kind}"
                   for number in range(layers) for kind in ("weight", "bias")
                   for part, long in (("ih", "input"), ("hh", "hidden"))}
            with torch.no_grad():
                for parameter, name in own.items():
                    getattr(self.lstm_layers, parameter).copy_(self.weights.pop(name))
            self.weights |= {name: getattr(self.lstm_layers, parameter) for parameter, name in own.items()}
            self.lstm_layers.flatten_parameters()

    def units(self):
        return self.initial["lstm.layer1.hidden.weight"].shape[0]

    def unit(self, x, conv, norm, stride=1, padding=1):
        functional = self.torch.nn.functional
        z = functional.conv2d(x, self.weights[conv + ".weight"], stride=stride, padding=padding)
        return functional.batch_norm(z, None, None, self.weights[norm + ".weight"], self.weights[norm + ".bias"], True)

    def linear(self, x, name):
        return self.torch.nn.functional.linear(x, self.weights[name + ".weight"], self.weights[name + ".bias"])

    def resnet(self):
        functional = self.torch.nn.functional
        x = functional.relu(self.unit(self.features, "conv1", "bn1"))
        for name in [one for one in self.initial if one.endswith(".conv1.weight")]:
            prefix = name.removesuffix("conv1.weight")
            channels = self.initial[name].shape[3]
            stride = 1 if x.shape[1] == channels else 2
            hidden = functional.relu(self.unit(x, prefix + "conv1", prefix + "bn1", stride))
            hidden = self.unit(hidden, prefix + "conv2", prefix + "bn2")
            if prefix + "shortcut.conv.weight" in self.weights:
                x = self.unit(x, prefix + "shortcut.conv", prefix + "shortcut.bn", stride, 0)
            elif x.shape[1] != channels:
                extra = (channels - x.shape[1]) // 2
                x = functional.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, extra, extra))
            x = functional.relu(hidden + x)
        return self.linear(x.mean((2, 3)), "linear")

    def vgg(self):
        functional, x = self.torch.nn.functional, self.features
        names = [name.removesuffix(".weight") for name in self.initial if re.match(r"\w+\.conv\d*\.weight$", name)]
        for name, following in zip(names, [*names[1:], ""], strict=True):
            x = functional.relu(self.unit(x, name, name.replace("conv", "bn")))
            if name.split(".")[0] != following.split(".")[0]:
                x = functional.max_pool2d(x, 2)
        x = x.permute(0, 2, 3, 1).reshape(len(x), -1)
        for name in [one.removesuffix(".weight") for one in self.initial if one.startswith("hidden") and one.endswith("weight")]:
            x = functional.relu(self.linear(x, name))
        return self.linear(x, "linear")

    def decode(self, x):
        matrix = self.weights.get("decoder.weight")
        return self.torch.nn.functional.linear(x, self.weights["embedding.weight"] if matrix is None else matrix,
                                               self.weights["decoder.bias"])

    def lstm(self):
        functional = self.torch.nn.functional
        frames = self.name.startswith("frames")
        x = self.features if frames else functional.embedding(self.tokens, self.weights["embedding.weight"])
        x = functional.dropout(x, self.dropout)
        x, state = self.lstm_layers(x, None if frames else tuple(kept.clone() for kept in self.state))
        for kept, new in zip(self.state, state, strict=True):
            kept.copy_(new.detach())
        x = functional.dropout(x, self.dropout)
        return self.linear(x.mean(1), "linear") if frames else self.decode(x).flatten(0, 1)

    def transformer(self):
        functional = self.torch.nn.functional
        x = functional.embedding(self.tokens, self.weights["embedding.weight"]) + self.weights["position.weight"]
        width = x.shape[2]

        def norm(x, name):
            return functional.layer_norm(x, (width,), self.weights[name + ".weight"], self.weights[name + ".bias"])
        for name in [one.removesuffix("norm1.weight") for one in self.initial if one.endswith("norm1.weight")]:
            qkv = self.linear(norm(x, name + "norm1"), name + "attention.input")
            q, k, v = (part.unflatten(2, (HEADS, -1)).transpose(1, 2) for part in qkv.chunk(3, 2))
            seen = functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
            x = x + self.linear(seen, name + "attention.output")
            hidden = functional.gelu(self.linear(norm(x, name + "norm2"), name + "mlp.input"), approximate="tanh")
            x = x + self.linear(hidden, name + "mlp.output")
        return self.decode(norm(x, "norm")).flatten(0, 1)

    def step(self):
        """The loss. Gradients are in `.grad` of all weights."""
        for weight in self.weights.values():
            weight.grad = None
        loss = self.torch.nn.functional.cross_entropy(self.forward(), self.labels)
        loss.backward()
        return loss

    def losses(self):
        """Losses of plain gradient descent from the initial weights."""
        self.reset()
        found = []
        for _ in self.known["losses"]:
            found.append(float(self.step()))
            with self.torch.no_grad():
                for weight in self.weights.values():
                    weight -= self.known["rate"] * weight.grad
        return found


def captured(torch, job):
    """A function that replays a CUDA graph of a step."""
    job.reset()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            job.step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    for weight in job.weights.values():
        weight.grad = None
    with torch.cuda.graph(graph):
        job.torch.nn.functional.cross_entropy(job.forward(), job.labels).backward()
    return graph.replay


def median_ms(torch, device, work, samples):
    synchronise = torch.cuda.synchronize if device == "cuda" else (lambda: None)
    times = []
    for number in range(samples + 3):
        synchronise()
        began = time.perf_counter()
        work()
        synchronise()
        if number >= 3:  # the first ones choose algorithms
            times.append(1e3 * (time.perf_counter() - began))
    return statistics.median(times)


def measure(torch, job, device, samples):
    """The rows of one model, and what is wrong: a line for each precision with which the losses are not ours."""
    rows, wrong = [], []
    for precision in ("fp32", "tf32") if device == "cuda" else ("fp32",):
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
        error = None
        if not job.dropout:
            error = max(abs(own / kept - 1) for own, kept in zip(job.losses(), job.known["losses"], strict=True))
            if not error <= TOLERANCE[precision]:
                wrong.append(f"{job.name}: losses of torch ({precision}) differ by {error:.1e} of ours")
        job.reset()
        works = {"eager": job.step}
        if device == "cuda":
            works["graph"] = captured(torch, job)
        for kind, work in works.items():
            rows.append({"model": job.name, "variant": f"{kind}, {precision}", "loss_error": error,
                         "time_ms": median_ms(torch, device, work, samples)})
    return rows, wrong


def run(kind, samples, folder):
    try:
        import torch  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        return {"left_out": f"{sys.executable} cannot import torch: {error}"}
    if kind == "gpu" and not torch.cuda.is_available():
        return {"left_out": f"torch {torch.__version__} sees no GPU"}
    if "OMP_NUM_THREADS" in os.environ:  # as many as our own kernels have
        torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    device = "cuda" if kind == "gpu" else "cpu"  # torch calls AMD's devices cuda too
    torch.backends.cudnn.benchmark = True
    rows, wrong = [], []
    for path in sorted(folder.glob("*/model.json")):
        for found, more in zip((rows, wrong), measure(torch, Job(torch, path.parent, device), device, samples), strict=True):
            found += more
    return {"torch": torch.__version__, "threads": torch.get_num_threads(), "rows": rows, "wrong": wrong,
            "device": torch.cuda.get_device_name() if kind == "gpu" else "cpu"}


if __name__ == "__main__":
    pathlib.Path(sys.argv[1]).write_text(
        json.dumps(run(sys.argv[2], int(sys.argv[3]), pathlib.Path(sys.argv[4]))), encoding="utf-8")
