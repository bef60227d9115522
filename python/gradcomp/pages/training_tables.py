"""The tables of each run on docs/results/training.md, from result files of gradcomp-train."""
from gradcomp.output import text
from gradcomp.report import frames, verdicts

from .intervals import shown_mean
from .training_verdicts import behind, gap_share, shown, trained, value_of, verdict, without_reference


def _to_target(row, total):
    """Cells of steps, seconds and bytes until the target."""
    shows = {"steps_to_target": lambda steps: f"{steps:,.0f}", "time_to_target_s": text.number,
             "wire_bytes_to_target": text.size}
    if total and 0 < total["seeds_at_target"] < len(total["seeds"]):
        return [f"{total['seeds_at_target']} of {len(total['seeds'])} seeds", text.DASH, text.DASH]
    return [shown(row.get(key), total, key, show) for key, show in shows.items()]


def at_edge(rates):
    """The methods of read_rates() whose best rate is at the edge, so that one beyond may be better."""
    return {method for method, (rate, tried) in rates.items() if rate in (min(tried), max(tried))}


def about_edges(records):
    """The sentence on rates that methods() marks. All methods have the same number of trials, which the records of rates hold."""
    trials = ", ".join(map(str, sorted({row["trials"] for record in records.values() for row in record.rows if "trials" in row})))
    return ("A rate marked `edge` is the least or the largest of those that were tried: a better one may lie beyond, but the number of "
            f"trials{f' ({trials})' if trials else ''} ended the search there.")


def methods(record, edges=()):
    """The main table of a run, a line per method. `edges`: methods whose tuned rates are marked."""
    lines, found = [], trained(record)
    with_target = any("target" in one.rows[0] for one in found.values())
    with_seeds = any(one.total for one in found.values())
    one_link = not any("over_links" in one.rows[0] for one in found.values())  # a step over several links is none of any link
    metric, without = next(iter(found.values())).rows[0]["metric"], without_reference(found)
    with_gap = any((one.total or {}).get("gap_share_over_seeds") for one in found.values())
    for label, one in found.items():
        row, total = one.rows[0], one.total

        def show(value):
            return text.quality(metric, value)
        mark = " edge" if row["method_canonical"] in edges else " tuned"
        cells = [f"`{label}`", f"{row['learning_rate']:g}{mark if 'tuning_steps' in row else ''}",
                 one.diverged or shown(row["test_quality"], total, "test_quality", show)]
        if with_seeds:
            cells.append(text.DASH if label == "fp32" else behind(total))
        if with_gap:
            cells.append(text.DASH if label == "fp32" else gap_share(total))
        if with_target:
            cells += _to_target(row, total)
        cells += [text.size(value_of(row, total, "wire_bytes")), text.number(row.get("state_bytes_per_parameter")),
                  *([shown(row["step_time_ms"]["median"], total, "step_time_ms", text.number)] if one_link else []),
                  verdict(one, without)]
        lines.append(cells)
    lacks = [*(["behind `fp32`"] if with_seeds else []), *(["share of the gap"] if with_gap else [])]
    target = ["steps to target", "seconds to target", "bytes to target"] if with_target else []
    return ["method", "rate", f"test {metric}", *lacks, *target, "sent by a rank per step",
            "state (bytes per parameter)", *(["step (ms)"] if one_link else []), "verdict"], lines


def _speeds(one):
    """The speed-up against fp32 with each seed; none where the quality of fp32 or the target was missed."""
    return [row["speedup_vs_fp32"] if one.matched else None for row in one.rows]


def _beside(speeds, others):
    """The speed beside another method, seed by seed."""
    known = others and not any(map(text.missing, [*speeds, *others]))
    return shown_mean([mine / theirs for mine, theirs in zip(speeds, others, strict=True)], text.ratio) if known else text.DASH


def throughputs(record):
    """Sparsifiers: throughput; speed beside dense, top-k and DGC if both have the quality of fp32; and the achieved density."""
    found = verdicts.trained(record)
    of = {frames.registry_name(one.rows[0]["method"]): _speeds(one) for one in reversed(found)}  # the first of a name
    lines = [[f"`{one.label.split(':lr=')[0]}`", shown_mean([row["samples_per_second"] for row in one.rows]),
              *(_beside(_speeds(one), of.get(name)) for name in ("fp32", "top_k", "dgc")),
              shown_mean([row.get("density_ratio_mean") for row in one.rows])] for one in found]
    return ["method", "samples/s", "over `fp32`", "over `top_k`", "over `dgc`", "achieved / target density"], lines
