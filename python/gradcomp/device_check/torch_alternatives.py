"""A program for the Python that has torch: times what users of PyTorch write instead of a compressor, and checks it.

usage: torch_alternatives.py OUTPUT cpu|gpu SAMPLES ELEMENTS...
Writes {"torch", "device", "threads", "rows": [{"name", "elements", "time_ms"}]}, or {"left_out": why} without torch."""
import json
import math
import os
import pathlib
import random
import statistics
import sys
import time

SCALE, DENSITY, LEVELS, BUCKET = 1e-3, 0.01, 7, 512


def expressions(torch, x):
    """{name: (function, check of its result)}."""
    count = max(1, int(DENSITY * x.numel()))
    threshold = -SCALE * math.log(DENSITY)
    powers = torch.tensor([1, 2, 4, 8, 16, 32, 64, 128], dtype=torch.uint8, device=x.device)

    def top_k():
        indices = torch.topk(x.abs(), count, sorted=False).indices
        return indices.int(), x[indices]

    def select():
        indices = torch.nonzero(x.abs() >= threshold).flatten()
        return indices.int(), x[indices]

    def signs():
        return ((x >= 0).view(-1, 8).to(torch.uint8) * powers).sum(1, dtype=torch.uint8)

    def qsgd():
        rows = x.view(-1, BUCKET)
        norms = rows.norm(dim=1, keepdim=True)
        levels = (rows.abs() * (LEVELS / norms) + torch.rand_like(rows)).floor().to(torch.uint8)
        codes = levels + 8 * (rows < 0).to(torch.uint8)
        return norms, codes[:, ::2] | (codes[:, 1::2] << 4)

    def kept_largest(found):
        left = x.abs().clone()
        left[found[0].long()] = 0
        return found[0].numel() == count and found[1].abs().min() >= left.max()

    def within_a_level(found):
        codes = torch.stack([found[1] & 15, found[1] >> 4], dim=2).view(-1, BUCKET)
        levels = (codes & 7).float() * (1 - 2 * (codes >> 3).float())
        rows = x.view(-1, BUCKET)
        return ((levels * found[0] / LEVELS - rows).abs() <= 1.001 * found[0] / LEVELS).all()

    return {
        "torch.topk": (top_k, kept_largest),
        "torch.nonzero": (select, lambda found: found[0].numel() == int((x.abs() >= threshold).sum())),
        "torch, packed signs": (signs, lambda found: bool((((found[:, None] & powers) != 0).flatten() == (x >= 0)).all())),
        "torch, QSGD of 4 bits": (qsgd, within_a_level),
        "Tensor.half": (x.half, lambda found: bool(((found.float() - x).abs() <= 1e-3 * x.abs() + 6e-8).all())),
    }


def measure(torch, device, elements, samples):
    """The rows of one size. The expressions take turns. Throws RuntimeError if an answer is wrong."""
    generator = torch.Generator().manual_seed(1)
    uniform = torch.rand(elements, generator=generator).clamp_min(1e-12)
    signs = torch.randint(0, 2, (elements,), generator=generator) * 2 - 1
    x = (-SCALE * uniform.log() * signs).to(device)
    works = expressions(torch, x)
    synchronise = torch.cuda.synchronize if device == "cuda" else (lambda: None)
    for name, (work, check) in works.items():
        for _ in range(2):  # untimed
            found = work()
        if not bool(check(found)):
            raise RuntimeError(f"{name} of {elements} elements: wrong answer")
    times = {name: [] for name in works}
    order = list(works)
    for _ in range(samples):
        random.shuffle(order)
        for name in order:
            synchronise()
            began = time.perf_counter()
            works[name][0]()
            synchronise()
            times[name].append(1e3 * (time.perf_counter() - began))
    return [{"name": name, "elements": elements, "time_ms": {
        "median": statistics.median(values), "minimum": min(values), "count": len(values)}}
        for name, values in times.items()]


def run(kind, samples, sizes):
    try:
        import torch  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        return {"left_out": f"{sys.executable} cannot import torch: {error}"}
    if kind == "gpu" and not torch.cuda.is_available():
        return {"left_out": f"torch {torch.__version__} sees no GPU"}
    if "OMP_NUM_THREADS" in os.environ:  # as many as our own kernels have
        torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    device = "cuda" if kind == "gpu" else "cpu"  # torch calls AMD's devices cuda too
    with torch.no_grad():
        rows = [row for elements in sizes for row in measure(torch, device, elements, samples)]
    return {"torch": torch.__version__, "threads": torch.get_num_threads(), "rows": rows,
            "device": torch.cuda.get_device_name() if kind == "gpu" else "cpu"}


if __name__ == "__main__":
    pathlib.Path(sys.argv[1]).write_text(
        json.dumps(run(sys.argv[2], int(sys.argv[3]), [int(word) for word in sys.argv[4:]])), encoding="utf-8")
