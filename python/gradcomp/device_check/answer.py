"""What the page of a device says first, from the parts that were measured."""
import statistics

from gradcomp.output import markdown, text

from . import models
from .sections import rows_of


def _right(parts):
    """Whether the device computes what it should."""
    said = []
    if "tests" in parts:
        tests = parts["tests"]
        said.append(f"{tests['passed']:,} of {tests['passed'] + len(tests['failed']) + len(tests['not_run']):,} tests passed")
    if "golden" in parts:
        golden = parts["golden"]
        said.append(f"figures of {golden['cases']} cases that differ from those of the host build: {len(golden['changes'])}"
                    if golden["changes"] else f"the bytes of all {golden['cases']} cases are those of the host build")
    return [f"{'; '.join(said)}."] if said else []


def _steps(parts):
    """How long training steps take beside those of PyTorch."""
    ratios = {name: own / others["eager, fp32"] for name, own, others, _ in models.table(parts.get("models", {}))[1]
              if "eager, fp32" in others}
    if not ratios:
        return []
    least, most = min(ratios, key=ratios.__getitem__), max(ratios, key=ratios.__getitem__)
    return [f"A training step takes {text.ratio(ratios[least])} (`{least}`) to {text.ratio(ratios[most])} (`{most}`) the time of "
            "PyTorch's eager fp32 step."]


def _methods(parts):
    """What it costs to compress and decompress: (sentence, table), a line per size of the gradient."""
    by_size = {}
    for row in rows_of(parts.get("bench", {}), "pair"):
        if row.get("read_limit_ratio") and row["method"] != "no_exchange":
            by_size.setdefault(row["elements"], {})[row["method"]] = row["read_limit_ratio"]
    if not by_size:
        return [], []
    lines = []
    for elements, ratios in sorted(by_size.items()):
        fastest = min(ratios, key=ratios.__getitem__)
        lines.append([f"{elements:,}", str(len(ratios)), f"{text.ratio(ratios[fastest])} (`{fastest}`)",
                      text.ratio(statistics.median(ratios.values())), text.ratio(max(ratios.values()))])
    return (["Compress and decompress together, as a multiple of the time to read the gradient once:"],
            markdown.table(["elements", "methods", "fastest", "median", "slowest"], lines))


def answer(document):
    """Lines of Markdown, at most 120 words."""
    said, table = _methods(document["parts"])
    sentences = [*_right(document["parts"]), *_steps(document["parts"]), *said]
    failed = [step["name"] for step in document["steps"] if step["status"] == "failed"]
    if failed:
        sentences.insert(0, f"Steps that failed ([why](#steps)): {', '.join(failed)}.")
    if not sentences:
        return ["No part of this check measured anything: see its [steps](#steps)."]
    return ["\n".join(sentences), *([""] if table else []), *table]
