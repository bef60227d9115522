"""A program for the Python that has torch: trains on the models that gradcomp-bench --dump-models wrote, with the same weights
on the same batches, and times a step (forward and backward).

usage: torch_models.py OUTPUT cpu|gpu SAMPLES FOLDER
Writes {"torch", "device", "threads", "wrong", "rows": [{"model", "variant", "time_ms", "loss_error"}]}, or {"left_out": why}
without torch. `wrong`: a line for each model and precision with other losses than ours. `loss_error`: the largest relative
difference of our losses in ten steps; null for networks with dropout.
Variants: eager and graph (a CUDA graph of the step), each with fp32 and with tf32 products; on a CPU eager fp32 alone."""
import json
import os
import pathlib
import statistics
import sys
import time

from gradcomp.peers.networks import Network

TOLERANCE = {"fp32": 1e-3, "tf32": 2e-2}  # of losses after ten steps: rounding grows from step to step


class Job(Network):
    """A dumped model on its only batch."""

    def step(self):
        """The loss. Gradients are in `.grad` of all weights."""
        for weight in self.weights.values():
            weight.grad = None
        loss = self.loss()
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
        job.loss().backward()
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
