"""Scaling efficiency of trainings: speed on more nodes relative to the speed on the fewest nodes."""
import json

from .keys import TRAIN

WEAK, STRONG = "weak", "strong"


def _series(folder, found):
    """[(kind, batch in words, {nodes: index})] of points that differ only in their number of nodes. Weak: the batch per rank is
    constant. Strong: the batch over all ranks is constant."""
    groups = {}
    for index, record in found.items():
        point = folder.points[index]
        if point["program"] != TRAIN:
            continue
        options = {name: value for name, value in point["options"].items() if name != "batch"}
        batch = record["benchmarks"][0].get("batch_per_rank")
        same = json.dumps([options, point["ranks_per_node"]], sort_keys=True)
        groups.setdefault((WEAK, f"{batch} a rank", same), {})[point["nodes"]] = index
        if batch:
            over_all = batch * point["nodes"] * point["ranks_per_node"]
            groups.setdefault((STRONG, f"{over_all} in all", same), {})[point["nodes"]] = index
    return [(kind, batch, nodes) for (kind, batch, _), nodes in groups.items() if len(nodes) > 1]


def _efficiency(kind, base, base_ms, nodes, step_ms):
    """Weak: t(base) / t(n). Strong: base t(base) / (n t(n)). None if a time is not known."""
    if not base_ms or not step_ms:
        return None
    return base_ms / step_ms * (base / nodes if kind == STRONG else 1)


def rows(folder, found, training):
    """Rows of the table. `training`: rows of the training table, for their step times."""
    times = {(row["point"], row["method"]): row for row in training}
    for kind, batch, series in _series(folder, found):
        base = min(series)
        identity = {nodes: folder.points[index]["id"] for nodes, index in series.items()}
        fp32 = times.get((identity[base], "fp32"), {}).get("step ms")
        methods = [method for point, method in times if point == identity[base]]
        for method in methods:
            own = times[identity[base], method]["step ms"]
            for nodes in sorted(series):
                row = times.get((identity[nodes], method))
                if row is None:
                    continue
                step = row["step ms"]
                yield {name: row[name] for name in ("model", "strategy", "bucket KiB", "link", "method")} | {
                    "scaling": kind, "batch": batch, "nodes": nodes, "ranks": row["ranks"], "step ms": step,
                    "against nodes": base, "efficiency": _efficiency(kind, base, own, nodes, step),
                    "efficiency vs fp32": _efficiency(kind, base, fp32, nodes, step)}
