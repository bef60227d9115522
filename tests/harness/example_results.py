"""Fabricated result files for the tests of the report and of the schema. The figures are invented and mean nothing."""
import json
import math

DENSE = ("fp32", "fp16", "bf16")
METHODS = {  # label: (payload bytes, exchange ms, compress ms, accuracy)
    "fp32": (1078888, 30.0, 0.0, 0.95),
    "fp16": (539444, 16.0, 0.5, 0.951),
    "bf16": (539444, 16.0, 0.75, 0.948),
    "no_exchange": (0, 0.0, 0.0, 0.60),
    "top_k:ratio=0.01": (21576, 2.0, 3.0, 0.949),
    "powersgd:rank=2": (56784, 3.0, 6.0, 0.70),
}


def summary(values):
    """The statistics of a list of samples, as in a result file."""
    ordered = sorted(values)
    middle = ordered[len(ordered) // 2]
    return {"median": middle, "p5": ordered[0], "p95": ordered[-1], "minimum": ordered[0],
            "mean": sum(ordered) / len(ordered), "count": len(ordered)}


def context(program, link=None):
    """A context with every required column."""
    emulated = link is not None
    return {
        "date": "2025-01-01T00:00:00+00:00", "host_name": "", "executable": program, "num_cpus": 2, "mhz_per_cpu": 3000,
        "cpu_scaling_enabled": False, "caches": [{"type": "Data", "level": 1, "size": 32768, "num_sharing": 1}],
        "load_avg": [0.1, 0.2, 0.3], "library_build_type": "release", "json_schema_version": 1,
        "gradcomp": {
            "schema_version": 3, "program": program, "version": "0.0.0", "git_hash": "unknown", "git_dirty": False,
            "compiler": "GNU 0", "build_type": "Release", "native_arch": False, "kokkos_version": "0.0.0",
            "kokkos_backend": "OpenMP", "device": "host", "threads": 1, "ranks": 2, "mpi": "an MPI",
            "communicator": "counting/mpi",
            "link": {"kind": "emulated" if emulated else "real", "text": link or "mpi",
                     "rate_mbit_s": 100 if emulated else None, "latency_us": 50 if emulated else None},
            "cpu_model": "a <fabricated> CPU", "blas": "a BLAS", "openblas_core": "", "options": {"steps": 30},
            "seeds": [1], "environment": {"OMP_NUM_THREADS": "1"}}}


def row(name, times, label):
    """The columns of Google Benchmark and of a method."""
    return {"name": name, "run_name": name, "run_type": "iteration", "repetitions": 1, "repetition_index": 0,
            "threads": 1, "iterations": len(times), "real_time": summary(times)["median"],
            "cpu_time": summary(times)["median"], "time_unit": "ms", "method": label, "method_canonical": label,
            "label": label}


def density(label, infix=""):
    """The columns of the monitor of densities for a method."""
    if not label.startswith("top_k"):
        return {"density_ratio": None}
    values = {"mean": 1.02, "std": 0.1, "rms": 0.11, "p5": 0.9, "p50": 1.0, "p95": 1.1, "max": 1.3}
    return ({"density_ratio": {name: values[name] for name in ("p5", "p50", "p95", "max")}}
            | {f"density_ratio{infix}_{name}": value for name, value in values.items()})


def train(link=None):
    """A training of all METHODS, judged."""
    from gradcomp.results.judge import judged  # programs that stand in for ours do not have it
    document = written(link)
    return document | {"benchmarks": judged(document)}


def written(link=None):
    """A training of all METHODS, as gradcomp-train writes it."""
    slow = 1 if link is None else 4
    rows = []
    for label, (payload, exchange, compress, accuracy) in METHODS.items():
        exposed = exchange * slow
        times = [60 + compress + exposed + i % 5 for i in range(30)]
        steps = list(range(0, 31, 5))
        rows.append(row(f"train/{label}", times, label) | {
            "dense_bytes": 1078888, "payload_bytes": payload, "header_bytes": 32, "wire_bytes": payload + 40,
            "compression_ratio": 1078888 / payload if payload else None, "model": "resnet20", "data": "invented",
            "parameters": 269722, "seed": 1, "step_time_ms": summary(times), "step_times_ms": times,
            "stages_ms": {"data": 1.0, "forward": 20.0, "backward": 38.0, "compress": compress, "exchange": exposed,
                          "hidden": 0.0, "exposed": exposed, "decompress": 0.4, "update": 0.6},
            "samples_per_second": 64e3 / summary(times)["median"], "metric": "accuracy", "test_quality": accuracy,
            "test_accuracy": accuracy, "test_loss": 0.2,
            "curve": {"step": steps, "time_s": [s * summary(times)["median"] / 1e3 for s in steps],
                      "wire_bytes": [s * payload for s in steps], "loss": [2.3 * math.exp(-s / 12) for s in steps],
                      "accuracy": [None if s % 10 else accuracy * (1 - math.exp(-s / 8)) for s in steps],
                      "quality": [None if s % 10 else accuracy * (1 - math.exp(-s / 8)) for s in steps]},
            "role": {"no_exchange": "bound"}.get(label, label if label in DENSE else "method"), "lack": METHODS["fp32"][3] - accuracy,
            "task_tells": True, "gap_share": (accuracy - METHODS["no_exchange"][3]) / (METHODS["fp32"][3] - METHODS["no_exchange"][3]),
            "lack_allowed": 0.02, "reference_quality": 0.2, "workers": 2,
            "state_bytes": 1078888, "replica_hash_equal": None if label == "no_exchange" else True}
            | ({"bucket_kib": 0} if label in DENSE else {}) | density(label))
    return {"context": context("gradcomp-train", link), "benchmarks": rows}


def diverge(row, step):
    """Makes the row of a training what gradcomp-train writes if the method diverged. Returns it."""
    kept = sum(at < step for at in row["curve"]["step"])
    row |= dict.fromkeys(("test_quality", "test_accuracy", "test_loss", "lack", "gap_share", "speedup_vs_fp32",
                          "speedup_vs_best_dense")) | {
        "quality_matched": False, "diverged_at_step": step,
        "curve": {name: values[:kept] for name, values in row["curve"].items()}}
    return row


def allreduce(link=None):
    """top_k loses at the small size and wins at the large ones; powersgd never wins."""
    rows = []
    for elements in (2**10, 2**14, 2**18, 2**22):
        for label, (fixed, per_element) in {"fp32": (0.05, 4e-6), "fp16": (0.06, 3e-6), "no_exchange": (0.001, 1e-7),
                                            "top_k:ratio=0.01": (0.5, 4e-7), "powersgd:rank=2": (1, 9e-6)}.items():
            times = [fixed + per_element * elements * (10 if link else 1)] * 5
            rows.append(row(f"allreduce/{label}/{elements}", times, label) | {
                "elements": elements, "ranks": 2, "dense_bytes": 4 * elements, "payload_bytes": elements,
                "header_bytes": 0, "wire_bytes": elements, "compression_ratio": 4.0, "time_ms": summary(times),
                "times_ms": times, "alg_bw_gb_s": 1.0, "bus_bw_gb_s": 1.0, "wrong": 0,
                "relative_error": 0.0 if label == "fp32" else 0.5} | density(label))
    return {"context": context("gradcomp-allreduce", link), "benchmarks": rows}


def bench():
    """Two phases of a method, a kernel and a limit of the machine."""
    rows = []
    for operation in ("compress", "decompress", "kernel", "read"):
        item = row(f"{operation}/top_k/1024", [0.5, 0.6], "top_k")
        if operation in ("kernel", "read"):
            for key in ("method", "method_canonical", "label"):
                del item[key]
        else:
            item |= {"phase": operation, "feedback": "residual", "payload_bytes": 80, "header_bytes": 32,
                     "wire_bytes": 0, "dense_bytes": 4096, "compression_ratio": 51.2, "payload_checksum": "00c0ffee",
                     "decoded_checksum": "0000cafe", "allocations": 0, "nmse": 0.5}
        if operation == "kernel":
            item["kernel"] = "top_k"
        rows.append(item | {"operation": operation, "data": "laplace", "elements": 1024, "cache": "warm",
                            "verified": True, "elements_per_second": 2e6, "passes": 1, "gb_per_second": 3.0,
                            "read_limit_ms": 0.2, "read_limit_ratio": 2.5})
    return {"context": context("gradcomp-bench"), "benchmarks": rows}


def evaluate(stream="laplace", loop="open", methods=("fp32", "top_k:ratio=0.01"), bias=1.0):
    """Two methods on one stream."""
    rows = []
    for label in methods:
        sparse = {"target_density": 0.01, "achieved_density": 0.01, "payload_bits_per_kept": 64.0,
                  "entropy_bits_per_kept": 8.1} if label.startswith("top_k") else {
                      "target_density": None, "achieved_density": None}
        rows.append(row(f"evaluate/{stream}/{label}", [0.2, 0.3], label) | sparse | density(label) | {
            "stream": stream, "loop": loop, "elements": 1024, "steps": 2, "dense_bytes": 4096, "payload_bytes": 80,
            "header_bytes": 32, "compression_ratio": 51.2, "relative_l2_error": 0.9 * bias, "cosine": 0.4,
            "time_ms": summary([0.2, 0.3]), "times_ms": [0.2, 0.3], "compress_ms": 0.25, "compress_ms_p10": 0.21,
            "compress_ms_p90": 0.29, "decompress_ms": 0.1, "decompress_ms_p10": 0.1, "decompress_ms_p90": 0.1,
            "read_limit_ms": 0.05, "read_limit_ratio": 5.0, "verified": True})
    return {"context": context("gradcomp-evaluate"), "benchmarks": rows}


def write_folder(folder):
    """Writes all of them, as a demo does. Returns their names."""
    files = {"train.json": train(), "train_100mbit.json": train("100Mbit/s,50us"), "allreduce.json": allreduce(),
             "allreduce_100mbit.json": allreduce("100Mbit/s,50us"), "bench.json": bench()}
    for name, document in files.items():
        (folder / name).write_text(json.dumps(document), encoding="utf-8")
    return list(files)
