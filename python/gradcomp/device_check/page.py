"""The page, made from the result file alone."""
import re

from gradcomp.output import markdown, text

from . import alternatives, models
from .answer import answer
from .sections import kernel_table, limits_table, method_table, training_table

ENDING = {"passed": "passed", "failed": "**failed**", "left out": "left out"}


def _machine(context):
    """Sentences that say what ran where."""
    known = context["programs"]
    # a finished build can be of another commit than the checkout that measures with it
    built = known if known and known.get("git_hash", "unknown") != "unknown" else context
    dirty = {True: " with changes", False: "", None: ", git is not there"}[built["git_dirty"]]
    lines = [f"Commit {(built['git_hash'] or 'unknown')[:12]}{dirty}; preset `{context['preset']}`; {context['date'][:16]} "
             f"UTC; {context['seconds'] / 60:.1f} minutes."]
    if known:
        lines.append(f"{known['device']}; CPU: {known['cpu_model']}, {known['threads']} threads; {known['compiler']}, "
                     f"{known['build_type']}; Kokkos {known['kokkos_version']} ({known['kokkos_backend']}); {known['mpi']}.")
        if known.get("tracer"):
            lines.append(f"**Slowed**: {known['tracer']} traces every system call of these programs.")
    lines += [f"Driver: {line}" for line in context["driver"]]
    if context["quick"]:
        lines.append("**Quick**: small sizes and few samples; a check that everything runs, not a measurement.")
    return lines


def _plain(text):
    """Text that may contain anything, such as a pattern: no character of it means something to Markdown."""
    return re.sub(r"([\\`*<\[\]])", r"\\\1", text)


def _steps(document):
    rows = [[step["title"], ENDING[step["status"]], f"{step['seconds']:.1f}", _plain(step["reason"] or "")]
            for step in document["steps"]]
    return markdown.table(["step", "", "seconds", "why"], rows)


def _tests(found):
    lines = [f"{found['passed']} tests passed, {len(found['failed'])} failed and {len(found['not_run'])} had no time. "
             f"{found['left_out']} entries of ctest were left out, which do not run on the device or compare two runs."]
    tables = [markdown.table(["failed", "why"], [[f"`{name}`", _plain(why)] for name, why in found["failed"].items()]),
              markdown.table(["crashed", "what compute-sanitizer says"],
                             [[f"`{name}`", _plain(said)] for name, said in found["sanitizer"].items()])]
    for table in tables:
        if len(table) > 2:
            lines += ["", *table]
    return [*lines, "", *(f"- had no time: `{name}`" for name in found["not_run"]),
            *(f"- {number} skipped themselves: {reason}" for reason, number in sorted(found["skipped_inside"].items()))]


def _golden(found):
    if not found["changes"]:
        lines = [f"Bytes, checksums of payloads and of decoded gradients, and allocations of {found['cases']} cases are those "
                 "that the host build left in `docs/baselines/deterministic`."]
    else:
        rows = [[change["case"], change["column"], change["baseline"], change["new"]] for change in found["changes"]]
        lines = markdown.table(["case", "figure", "kept", "here"], rows)
    return [*lines, "", *(f"- {note}" for note in found["notes"])]


def _bench(found):
    out = ["*Fraction of read bandwidth*: the bytes that a kernel reads and writes, over its median time, over the rate at "
           "which the same program reads the same gradient. *x read*: its time over that of one read.", ""]
    for title, table in (("The device", limits_table(found)), ("Kernels", kernel_table(found)),
                         ("Compress and decompress, together", method_table(found))):
        if table[1]:
            out += [f"### {title}", "", *markdown.table(*table), ""]
    return out


def _alternatives(found):
    rows = [[work, f"{elements:,}", f"`{method}`", text.number(own), other or text.DASH, text.number(time), text.ratio(factor)]
            for work, elements, method, own, other, time, factor in alternatives.table(found)]
    lines = ["Median milliseconds, with indices and values (or codes) as the answer, each verified.", ""]
    lines += markdown.table(["work", "elements", "ours", "ms", "alternative", "ms", "its time over ours"], rows)
    notes = [f"- {kind}: left out: {found[kind]['left_out']}" for kind in ("torch", "cub") if "left_out" in found.get(kind, {})]
    if "torch" in found.get("torch", {}):
        notes.append(f"- torch {found['torch']['torch']} on {found['torch']['device']}, {found['torch']['threads']} CPU threads")
    return [*lines, "", *notes]


def _models(found):
    variants, lines = models.table(found)
    rows = [[f"`{name}`", text.number(own), *(text.number(others.get(variant)) for variant in variants),
             text.ratio(own / others["eager, fp32"] if "eager, fp32" in others else None),
             text.DASH if error is None else f"{error:.0e}"] for name, own, others, error in lines]
    out = ["Median milliseconds of forward and backward, with the same weights on the same batch. *Losses*: the largest relative "
           "difference of the losses of ten steps of gradient descent; networks with dropout have other losses in each run.", "",
           *markdown.table(["model", "ours", *(f"torch, {variant}" for variant in variants), "ours over eager fp32", "losses"], rows)]
    known = found.get("torch", {})
    if "left_out" in known:
        out += ["", f"- torch: left out: {known['left_out']}"]
    elif known:
        out += ["", f"- torch {known['torch']} on {known['device']}, {known['threads']} CPU threads"]
    return out


def _training(found):
    out = []
    for record in found.values():
        known, rows = record["context"]["gradcomp"], record["benchmarks"]
        energy = known["energy"]
        out += [f"### {rows[0]['model']}, {known['ranks']} ranks, {rows[0]['steps']} steps", "",
                *markdown.table(*training_table(rows)), "",
                "Joules per step: " + (f"by {energy['source']}, over {energy['devices']} devices." if energy["source"] != "none"
                                       else f"none, {energy['reason']}."), ""]
    return out


SECTIONS = (("tests", "Tests", _tests), ("golden", "Payloads against kept bytes", _golden),
            ("bench", "Kernels and methods", _bench), ("alternatives", "Alternatives", _alternatives),
            ("models", "Training steps beside PyTorch", _models), ("training", "Training", _training))


def page(document):
    """Markdown of a result file of device-check."""
    context = document["context"]
    name = context["programs"]["device"] if context["programs"] else context["preset"]
    out = [f"# Device check: {name}", "", *answer(document), "", "## Machine", "", *(f"- {line}" for line in _machine(context)), "",
           "## Steps", "", *_steps(document), ""]
    for part, title, lines in SECTIONS:
        if part in document["parts"]:
            out += [f"## {title}", "", *lines(document["parts"][part])]
            while not out[-1]:
                out.pop()
            out.append("")
    return "\n".join(out)
