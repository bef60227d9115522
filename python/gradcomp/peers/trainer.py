"""The training of one method with DDP, and what is measured of it."""
import pathlib
import statistics
import time

from gradcomp.errors import ToolError

from . import hooks
from .networks import Network

HEADERS = 66  # bytes of Ethernet, IP and TCP headers in every packet, with time stamps


def sent_bytes(interface, text=None):
    """Bytes without their headers that this process's network namespace has sent over an interface so far. `text`: that of
    /proc/net/dev, where the ninth and tenth number of a line are the bytes and packets sent."""
    for line in (text or pathlib.Path("/proc/net/dev").read_text(encoding="ascii")).splitlines():
        name, colon, numbers = line.partition(":")
        if colon and name.strip() == interface:
            return int(numbers.split()[8]) - HEADERS * int(numbers.split()[9])
    raise ToolError(f"there is no network interface '{interface}'")


class Trainer:
    """One method: DDP around its own copy of the weights, its optimiser, and what was measured so far."""

    def __init__(self, torch, folder, method):
        self.torch, self.method, self.network = torch, method, Network(torch, folder, "cpu")
        self.times, self.losses, self.sent = [], [], []
        self.ddp = hooks.wrapped(self._module(), method)
        self.optimiser = self._optimiser()

    def _module(self):
        """A module with the weights of the network, which returns the loss of the present batch."""
        torch, network = self.torch, self.network
        module = torch.nn.Module()
        module.forward = network.loss
        for name, weight in network.weights.items():
            if not isinstance(weight, torch.nn.Parameter):
                network.weights[name] = torch.nn.Parameter(weight.detach())
            module.register_parameter(name.replace(".", "_"), network.weights[name])
        return module

    def _optimiser(self):
        """SGD as in nn/optimisers/sgd.hpp: weight decay for matrices and filters alone."""
        known, weights = self.network.known, self.network.weights
        if known["optimiser"] != "sgd" or known["nesterov"] == "powersgd":
            raise ToolError("only --optimiser sgd with --nesterov off or on has a counterpart in PyTorch")
        matrices = [len(tensor["shape"]) >= 2 for tensor in known["tensors"]]
        groups = [{"params": [weights[tensor["name"]] for tensor, matrix in zip(known["tensors"], matrices, strict=True)
                              if matrix == wanted], "weight_decay": decay}
                  for wanted, decay in ((True, known["weight_decay"]), (False, 0.0))]
        return self.torch.optim.SGD(groups, lr=1.0, momentum=known["momentum"], nesterov=known["nesterov"] == "on")

    def step(self, number, timed):
        """Trains on batch `number`. Collective."""
        known = self.network.known
        self.network.use_batch(number)
        for group in self.optimiser.param_groups:
            group["lr"] = known["rates"][number]
        self.torch.distributed.barrier()
        began = time.perf_counter()
        self.optimiser.zero_grad()
        loss = self.ddp()
        loss.backward()
        if known["clip"] > 0:
            self.torch.nn.utils.clip_grad_norm_(self.ddp.parameters(), known["clip"])
        self.optimiser.step()
        milliseconds = 1e3 * (time.perf_counter() - began)
        if timed:
            self.times.append(milliseconds)
        self.losses.append(float(loss.detach()))

    def block(self, numbers, interface):
        """The steps of one turn, of which the first is not timed unless it is the only one. Counts the bytes of a step, with those
        of the barrier before it. Collective."""
        self.torch.distributed.barrier()
        before = sent_bytes(interface)
        for number in numbers:
            self.step(number, timed=number > numbers[0] or len(numbers) == 1)
        self.torch.distributed.barrier()
        self.sent.append((sent_bytes(interface) - before) / len(numbers))

    def row(self, own_interface):
        """The results of all ranks: times of the slowest rank, mean losses, and the bytes of the rank that sent most; None for these
        if the ranks share an interface. Collective."""
        torch, distributed = self.torch, self.torch.distributed
        times, losses, sent, known = (torch.tensor(values, dtype=torch.float64)
                                      for values in (self.times, self.losses, self.sent, self.network.known["losses"]))
        distributed.all_reduce(times, distributed.ReduceOp.MAX)
        distributed.all_reduce(sent, distributed.ReduceOp.MAX)
        for mean in (losses, known):
            distributed.all_reduce(mean)
            mean /= distributed.get_world_size()
        times = times.tolist()
        return {"label": self.method, "step_times_ms": times,
                "step_time_ms": {"mean": statistics.fmean(times), "median": statistics.median(times), "minimum": min(times),
                                 "count": len(times)},
                "losses": losses.tolist(), "wire_bytes": sent.tolist() if own_interface else None,
                "loss_error": float((losses / known - 1).abs().max()) if self.method == "dense" else None}
