"""The steps that run our own programs: comparison with the kept bytes, kernels, training."""
import dataclasses
import time

from gradcomp.gate import deterministic
from gradcomp.json_files import read_json
from gradcomp.results.judge import judged

from . import children
from .steps import Partly

BASELINE = "docs/baselines/deterministic/figures.json"
RAW = ("times_ms", "step_times_ms", "curve")  # the files of the parts keep them
KERNELS = "^(read|copy|triad|sgemm|train_step|kernel)"
# Elements: a layer, a small model or a bucket, ResNet-50, and a bucket of a large model. The host checks the answers with one
# thread, which takes minutes at the last one for the kernels.
KERNEL_SIZES, METHOD_SIZES = (1_048_576, 25_500_000), (65_536, 1_048_576, 25_500_000, 134_217_728)


def read(path):
    """A result file without raw samples."""
    document = read_json(path)
    document["benchmarks"] = judged(document)
    for row in document["benchmarks"]:
        for column in RAW:
            row.pop(column, None)
    return document


def golden(setting, limit):
    """Compares bytes, checksums and allocations of every method with those of the host build. They must be equal on every
    device."""
    path = setting.parts / "golden.json"
    children.run(setting.run("exec", "--", setting.program("gradcomp-bench"), *deterministic.CASES, "--output", path),
                 setting.parts / "golden.log", limit)
    kept = deterministic.read(setting.root / BASELINE)
    changes, notes = deterministic.compare(kept, deterministic.read(path))
    found = {"cases": len(kept["benchmarks"]), "notes": notes,
             "changes": [dataclasses.asdict(change) for change in changes]}
    wrong = [change.case for change in changes if change.regression]
    if wrong:
        raise Partly(f"{len(wrong)} values differ from those of the host build, first {wrong[0]}", found)
    return found


def bench_jobs(quick):
    """[(name, arguments)] of several processes, so that the finished ones remain if the time limit ends the step."""
    if quick:
        return [("kernels", ["--quick", "--filter", KERNELS]), ("methods", ["--quick", "--filter", "^pair/"])]
    return [("machine", ["--full", "--machine"]), ("models", ["--filter", "^train_step"]),
            *((f"kernels_{size}", ["--sizes", size, "--filter", "^kernel/"]) for size in KERNEL_SIZES),
            *((f"methods_{size}", ["--sizes", size, "--filter", "^pair/"]) for size in METHOD_SIZES),
            ("atomo", ["--sizes", METHOD_SIZES[0], "--filter", "^pair/", "--methods", "atomo"])]  # left out above unless named


def _run_jobs(setting, jobs, limit):
    """Runs [(name, words)] and returns {name: record}. Throws Partly if some fail. None may take more than half of the
    remaining time, unless it is the last."""
    records, failures, began = {}, [], time.monotonic()
    for number, (name, words) in enumerate(jobs):
        path = setting.parts / f"{name}.json"
        path.unlink(missing_ok=True)
        share = None if limit is None else (limit - (time.monotonic() - began)) / min(2, len(jobs) - number)
        try:
            children.run([*words, "--output", path], setting.parts / f"{name}.log", share)
            records[name] = read(path)
        except children.StepFailed as failure:
            failures.append(f"{name}: {failure}")
    if failures:
        raise Partly("; ".join(failures), records)
    return records


def bench(setting, limit):
    """Times kernels and methods, together with a read of the same bytes."""
    program = setting.run("exec", "--", setting.program("gradcomp-bench"))
    return _run_jobs(setting, [(name, [*program, *words]) for name, words in bench_jobs(setting.quick)], limit)


def training_jobs(quick):
    """{name: arguments} of trainings of both kinds of models, with the dense controls."""
    methods = "fp32,fp16,no_exchange,top_k:ratio=0.01,sidco:ratio=0.01,qsgd:bits=4,powersgd:rank=2"
    common = ["--no-controls", "--methods", methods]
    if quick:
        return {"train_resnet20": [*common, "--data", "shapetex10:train=256:test=64", "--model", "resnet20", "--batch", 16,
                                   "--steps", 8, "--block", 4, "--evaluate-every", 8],
                "train_lstm": [*common, "--data", "hmm", "--model", "lstm_1x96", "--batch", 8, "--lr", 1, "--momentum", 0,
                               "--clip", 0.25, "--steps", 8, "--block", 4, "--evaluate-every", 8]}
    return {"train_resnet20": [*common, "--data", "shapetex10", "--model", "resnet20", "--batch", 128, "--steps", 200,
                               "--block", 50, "--evaluate-every", 200],
            "train_lstm": [*common, "--data", "hmm", "--model", "lstm_2x200", "--batch", 64, "--lr", 1, "--momentum", 0,
                           "--clip", 0.25, "--steps", 200, "--block", 50, "--evaluate-every", 200]}


def training(setting, limit):
    """A short training of each model; with joules per step if the device counts energy."""
    start = setting.run("exec", "-n", setting.ranks, "--", setting.program("gradcomp-train"))
    jobs = [(name, [*start, *words]) for name, words in training_jobs(setting.quick).items()]
    return _run_jobs(setting, jobs, limit)
