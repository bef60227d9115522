"""Our networks in PyTorch, with the weights and on the batches of a folder that gradcomp-bench --dump-models or gradcomp-train
--dump-batches wrote. It imports no torch: the program that uses it gives its own."""
import math
import re

import numpy as np

from gradcomp.json_files import read_json
from gradcomp.npy_files import read_array

DROPOUT = {"lstm_2x650": 0.5, "frames_lstm_2x128": 0.2}
HEADS = 4


class Network:
    """A dumped model: its weights by name, and the logits that it computes of a batch.

    `weights` are leaves of autograd in the layouts of torch. `batches`: the number of batches in the folder; use_batch() chooses the
    one that loss() takes."""

    def __init__(self, torch, folder, device):
        self.torch, self.device = torch, device
        self.known = read_json(folder / "model.json")
        self.name, self.samples = self.known["model"], self.known["samples"]
        flat = read_array(folder / "parameters.npy")
        self.initial = {}
        for tensor in self.known["tensors"]:
            count = math.prod(tensor["shape"])
            values = flat[tensor["offset"]:tensor["offset"] + count].reshape(tensor["shape"])
            self.initial[tensor["name"]] = torch.from_numpy(values.copy()).to(device)
        self.dropout = DROPOUT.get(self.name, 0.0)
        self.batches = self.known.get("steps", 1)
        features, labels, tokens = (read_array(folder / f"{name}.npy") for name in ("features", "labels", "tokens"))
        self.all_features = torch.from_numpy(features).to(device)
        self.all_labels = torch.from_numpy(labels.astype(np.int64)).view(self.batches, -1).to(device)
        self.all_tokens = torch.from_numpy(tokens.astype(np.int64)).to(device)
        if self.all_features.numel():
            shape = [self.known["height"], self.known["width"], 3] if self.known["height"] else [self.known["length"], -1]
            self.all_features = self.all_features.view(self.batches, self.samples, *shape)
        if self.all_tokens.numel():
            self.all_tokens = self.all_tokens.view(self.batches, self.samples, self.known["length"])
        if self.name.startswith(("resnet", "vgg")):
            self.all_features = self.all_features.permute(0, 1, 4, 2, 3)  # NHWC in memory: torch calls it channels_last
            self.forward = self.resnet if self.name.startswith("resnet") else self.vgg
        elif self.name.startswith("transformer"):
            self.forward = self.transformer
        else:
            self.forward = self.lstm
        self.use_batch(0)
        self.reset()

    def use_batch(self, number):
        """From now on forward() and loss() take this batch."""
        self.labels = self.all_labels[number]
        self.features = self.all_features[number] if self.all_features.numel() else self.all_features
        self.tokens = self.all_tokens[number] if self.all_tokens.numel() else self.all_tokens

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

    def loss(self):
        """The mean loss of the batch, in nats, a scalar tensor."""
        return self.torch.nn.functional.cross_entropy(self.forward(), self.labels)
