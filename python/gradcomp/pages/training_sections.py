"""docs/results/training.md: the sections, one for each comparison, with their figures."""
import dataclasses
import os

from gradcomp.output import markdown
from gradcomp.output.files import write_whole
from gradcomp.report import canvas, curves
from gradcomp.results.provenance import commit

from . import training_bars, training_links, training_tables, training_verdicts

SEPARATED = ("resnet20", "lstm", "full")
MOST_LINES = 16  # largest number of lines that can be distinguished in a figure


def _figure(image, folder, figure, alternative):
    """Writes a figure; returns the lines that show it on a page in `folder`."""
    write_whole(image, canvas.saved(figure, "svg"))
    return [f"![{alternative}]({os.path.relpath(image, folder)})", ""]


def curves_of(record):
    """The quality against time, steps and bytes, with the names of the table. Returns (figure, alternative text)."""
    methods = [dataclasses.replace(one, label=label) for label, one in training_verdicts.trained(record).items()]
    style = canvas.styles(one.label for one in methods)
    return curves.curves(methods, style, record.link, ["quality"], ["time_s", "step", "wire_bytes"])


def _tolerance(record, metric):
    """In words."""
    share = 100 * training_verdicts.tolerance_of(record)
    return f"{share:g} points of accuracy" if metric == "accuracy" else f"{share:g} % of perplexity"


def section(chosen, records, images, folder, edges):
    """The lines of a comparison; also writes its figures. `records`: {run: record}; `folder`: that of the page; `edges`: {task:
    methods whose tuned rates are marked}."""
    lines = [f"## {chosen.title}", "", chosen.note, ""]
    swept = [record for run, record in records.items() if run.links > 1]
    if swept:
        lines += [*markdown.table(*training_links.answers(swept)), "",
                  *_figure(images / f"training_{chosen.name}.svg", folder, *training_links.figure(swept))]
    for run, record in records.items():
        if chosen.name == "bars":
            continue
        if run.task is None:
            lines += ["ResNet-18 on CIFAR-10 with 16 workers, as published:", "",
                      *markdown.table(*training_bars.epochs(record)), ""]
            continue
        row, options = record.rows[0], record.gradcomp["options"]
        source = f"tuned, `docs/rates/{run.task.name}.json`" if options["tuned"] else "set by hand"
        target = f"target: {row['metric']} of {row['target']:g} on the validation set; " if "target" in row else ""
        skew = f" with `--skew {options['skew']:g}`" if options["skew"] else ""
        lines += [f"`{row['model']}` ({row['parameters']:,} parameters) on `{run.task.data}`{skew}, {record.link}, batch "
                  f"{row['batch_per_rank']} per rank, {row['steps']} steps; {target}tolerance {_tolerance(record, row['metric'])}; "
                  f"rates {source}; {commit(record)}.", "",
                  *markdown.table(*training_tables.methods(record, edges.get(run.task.name, ()))), ""]
        if run.links > 1:
            lines += [*markdown.table(*training_links.table(record)), ""]
        if chosen.name.startswith(SEPARATED):
            lines += [*markdown.table(*training_bars.separations(record)), ""]
        if chosen.name == "sparsifiers":
            lines += [*markdown.table(*training_tables.throughputs(record)), ""]
        if len(run.methods) > MOST_LINES or run.task.evaluations == 1:
            continue
        lines += _figure(images / f"training_{run.name}.svg", folder, *curves_of(record))
    if chosen.name == "bars":
        limits = {run.name: run.bar for run in chosen.runs}
        lines += [*markdown.table(*training_bars.bars({run.name: r for run, r in records.items()}, limits)), ""]
    return lines
