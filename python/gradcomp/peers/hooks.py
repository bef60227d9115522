"""The hooks of DDP that compress gradients, and what must be put right so that those of PyTorch 2.6 run over gloo."""
import types

# In the order of the page. dense: DDP's own allreduce; no_exchange: each rank goes on with its own gradient.
METHODS = ("dense", "no_exchange", "fp16_compress_hook", "bf16_compress_hook", "powerSGD_hook", "batched_powerSGD_hook",
           "quantization_pertensor_hook", "quantization_perchannel_hook")
POWERSGD_RANK, POWERSGD_START = 2, 2  # rank of the matrices, and the step from which they are sent
TWICE = ("powerSGD", "batched_powerSGD", "quantization")  # beginnings of hooks that exchange more than once per bucket
ONE_BUCKET = 1 << 20  # MiB, more than any model has


class Refused(Exception):
    """Why DDP does not take a hook, in one line; the same on all ranks."""


class Gathering:
    """torch.distributed as the quantisation hooks take it for granted: the future of all_gather() holds a list with one tensor, in
    which the tensors of all ranks lie one after the other, as with NCCL. That of gloo holds a list of the tensors, at which the hooks
    of PyTorch 2.6 end with an IndexError."""

    def __init__(self, torch):
        self.torch = torch

    def __getattr__(self, name):
        return getattr(self.torch.distributed, name)

    def all_gather(self, *arguments, **options):
        work = self.torch.distributed.all_gather(*arguments, **options)
        return types.SimpleNamespace(get_future=lambda: work.get_future().then(lambda future: [self.torch.stack(future.wait())]))


def each_matrix(orthogonalise):
    """_orthogonalize() of powerSGD_hook for a single matrix too: that of PyTorch 2.6 asserts three dimensions, and
    batched_powerSGD_hook gives it two."""
    def work(matrices, epsilon=0):
        orthogonalise(matrices if matrices.dim() == 3 else matrices.unsqueeze(0), epsilon)
    return work


def put_right():
    """Changes the modules of the hooks as this module says. Call it once."""
    import torch
    from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook, quantization_hooks
    vars(quantization_hooks).update(dist=Gathering(torch))
    vars(powerSGD_hook).update(_orthogonalize=each_matrix(powerSGD_hook._orthogonalize))


def wrapped(module, method):
    """DDP around a module, with the hook of the method. Collective. Throws Refused."""
    import torch
    from torch.distributed.algorithms.ddp_comm_hooks import debugging_hooks, default_hooks, powerSGD_hook, quantization_hooks
    # Several buckets at once would end the hooks that exchange twice: with gloo, their second exchanges begin in another order on
    # each rank.
    ddp = torch.nn.parallel.DistributedDataParallel(module, bucket_cap_mb=ONE_BUCKET if method.startswith(TWICE) else None)
    if method == "dense":
        return ddp
    state = None
    if "powerSGD" in method:
        state = powerSGD_hook.PowerSGDState(None, matrix_approximation_rank=POWERSGD_RANK, start_powerSGD_iter=POWERSGD_START)
    name = "noop_hook" if method == "no_exchange" else method
    places = (debugging_hooks, default_hooks, powerSGD_hook, quantization_hooks)
    try:
        ddp.register_comm_hook(state, next(getattr(place, name) for place in places if hasattr(place, name)))
    except TypeError as error:  # bf16_compress_hook needs NCCL
        raise Refused(str(error).rstrip(".")) from error
    return ddp
