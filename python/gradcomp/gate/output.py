"""Shows a comparison to people: a table for the terminal, Markdown for a pull request."""
from gradcomp.output.markdown import table as markdown_table
from gradcomp.output.text import DASH, number
from gradcomp.results.provenance import machine

from . import decide

CONCLUSIONS = {0: "no regression", 1: "REGRESSION", 3: "inconclusive"}


def header(outcome):
    """Column names, with the unit of both times."""
    unit = "x read" if outcome.normalised else "ms"
    return ["case", f"baseline, {unit}", f"new, {unit}", "ratio", f"{100 * outcome.rules.level:.0f} % interval",
            "p (Holm)", "A/A spread", "its bound", "verdict"]


def _p(value):
    return DASH if value is None else f"{value:.2g}"


def cells(result):
    """The cells of one case."""
    verdict = f"{result.verdict}: {result.reason}" if result.reason else result.verdict
    if result.ratio is None:
        return [result.name] + [DASH] * 7 + [verdict]
    return [result.name, number(result.baseline), number(result.new), f"{result.ratio:.3f}",
            f"{result.low:.3f} to {result.high:.3f}", _p(result.p), f"{100 * result.spread:.1f} %",
            f"{100 * result.spread_bound:.1f} %", verdict]


def change_line(change):
    """A line on a deterministic figure that changed."""
    return (f"{change.case}: {change.column} {change.baseline} -> {'missing' if change.new is None else change.new} "
            f"({'REGRESSION' if change.regression else 'better'})")


def change_lines(outcome):
    """All of them."""
    return [change_line(change) for change in outcome.changes]


def conclusion(outcome):
    """The last line: conclusion and counts."""
    counted = [f"{outcome.count(verdict)} {verdict}" for verdict in (
        decide.REGRESSION, decide.INCONCLUSIVE, decide.FASTER, decide.OK, decide.NOT_JUDGED) if outcome.count(verdict)]
    return (f"{CONCLUSIONS[outcome.status]}: {', '.join(counted)} of {len(outcome.results)} cases; "
            f"{len(outcome.changes)} deterministic figures changed")


def _about(outcome):
    """Lines on what was compared."""
    lines = [f"{arm.name}: {len(arm.processes)} processes; {machine(arm.processes[0].record)}"
             for arm in (outcome.baseline, outcome.new)]
    if outcome.normalised:
        lines.append("Times are divided by the time to read the gradient once, of the same process.")
    return lines + outcome.notes


def table(outcome):
    """For a terminal."""
    rows = [header(outcome)] + [cells(result) for result in outcome.results]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    lines = _about(outcome) + [""]
    for row in rows:
        parts = [row[0].ljust(widths[0])] + [row[column].rjust(widths[column]) for column in range(1, len(widths))]
        lines.append("  ".join([*parts, row[-1]]))
    changed = change_lines(outcome)
    return "\n".join(lines + (["", "Deterministic figures:", *changed] if changed else []) + ["", conclusion(outcome)])


def markdown(outcome):
    """For a pull request: what matters first, all cases folded away."""
    telling = [result for result in outcome.results if result.verdict not in (decide.OK, decide.NOT_JUDGED)]
    lines = ["## gradcomp-compare", "", f"**{conclusion(outcome)}**", ""]
    lines += [f"- {line}" for line in _about(outcome)] + [""]
    changed = change_lines(outcome)
    if changed:
        lines += ["Deterministic figures:", "", *(f"- {line}" for line in changed), ""]
    if telling:
        lines += [*markdown_table(header(outcome), map(cells, telling)), ""]
    lines += ["<details><summary>All cases</summary>", "",
              *markdown_table(header(outcome), map(cells, outcome.results)), "", "</details>"]
    return "\n".join(lines) + "\n"
