"""The step that compares our methods with what users write instead of a compressor, at the same sizes, on the same device."""
import pathlib

from gradcomp.json_files import read_json

from . import children, measuring
from .steps import Partly

# what both do: (our method, {others by name})
RATIO = "ratio=0.01:feedback=none"
THRESHOLD = 0.004605170  # threshold of 1 % of the gradient of gradcomp-bench: 1e-3 ln 100
SAME_WORK = (
    ("the largest 1 %", f"top_k:{RATIO}", ("torch.topk", "cub::DeviceRadixSort")),
    ("all above a given threshold, 1 %", f"hard_threshold:lambda={THRESHOLD}:feedback=none",
     ("torch.nonzero", "cub::DeviceSelect::If")),
    ("1 % by a threshold that is found", f"sidco:{RATIO}", ("torch.topk", "cub::DeviceRadixSort")),
    ("packed signs", "sign:feedback=none", ("torch, packed signs",)),
    ("QSGD of 4 bits", "qsgd:bits=4:feedback=none", ("torch, QSGD of 4 bits",)),
    ("half precision", "fp16", ("Tensor.half",)),
)
PROGRAM = pathlib.Path(__file__).with_name("torch_alternatives.py")


def sizes(quick):
    """The sizes: multiples of 512, as QSGD's expression needs them."""
    return [65_536, 1_048_576] if quick else [1_048_576, 25_500_160]


def _read(path):
    return read_json(path)


def alternatives(setting, limit):
    """{"ours": record, "torch": ..., "cub": ...}. If one cannot be measured, {"left_out": reason} takes its place."""
    chosen, samples = sizes(setting.quick), 5 if setting.quick else 50
    shown = ",".join(map(str, chosen))
    parts, third = setting.parts, None if limit is None else limit / 3
    methods = ",".join(method for _, method, _ in SAME_WORK)
    found, failures = {}, []

    def one(name, words, read):
        path = parts / f"alternatives_{name}.json"
        path.unlink(missing_ok=True)
        try:
            children.run(words(path), parts / f"alternatives_{name}.log", third)
            found[name] = read(path)
        except children.StepFailed as failure:
            failures.append(f"{name}: {failure}")

    one("ours", lambda path: setting.run(
        "exec", "--", setting.program("gradcomp-bench"), "--sizes", shown, "--samples", samples, "--methods", methods,
        "--filter", "^compress/", "--output", path), measuring.read)
    kind = "gpu" if setting.on_device else "cpu"
    one("torch", lambda path: setting.run("exec", "--", setting.python, "-B", PROGRAM, path, kind, samples, *chosen), _read)
    cub = setting.program("gradcomp-bench-cub")
    if pathlib.Path(cub).exists():
        one("cub", lambda path: setting.run("exec", "--", cub, "--sizes", shown, "--samples", samples, "--output", path), _read)
    else:
        found["cub"] = {"left_out": "only CUDA builds have CUB"}
    if failures:
        raise Partly("; ".join(failures), found)
    return found


def table(found):
    """[(what both do, elements, our method, our ms, the alternative, its ms, its time / our time)]; None if it was not
    timed."""
    ours = {(row["method"], row["elements"]): row["real_time"]
            for row in found.get("ours", {}).get("benchmarks", ()) if "method" in row}
    theirs = {(row["name"], row["elements"]): row["time_ms"]["median"]
              for kind in ("torch", "cub") for row in found.get(kind, {}).get("rows", ())}
    rows = []
    for elements in sorted({elements for _, elements in [*ours, *theirs]}):
        for work, method, names in SAME_WORK:
            own = ours.get((method, elements))
            others: list[tuple] = [(name, theirs[name, elements]) for name in names if (name, elements) in theirs]
            for name, other in others or [(None, None)]:
                rows.append((work, elements, method, own, name, other,
                             other / own if own and other is not None else None))
    return rows
