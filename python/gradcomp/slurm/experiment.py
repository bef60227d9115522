"""Reads slurm/experiments/NAME.toml and expands it to points: one point is one job, one command, one record."""
import hashlib
import itertools
import json
import re

from gradcomp.errors import ToolError
from gradcomp.json_files import read_toml

from .keys import ALLREDUCE, CONTROLS, KEYS, TRAIN

TOP = {"title": "a text", "time": "a time limit of one point, HH:MM:SS", "sweep": "tables [[sweep]]",
       "preflight_sizes": "numbers of elements with commas between them"}
PREFLIGHT_SIZES = "1024,65536,1048576,16777216"


def _check_top(path, content):
    for key in content:
        if key not in TOP:
            raise ToolError(f"{path}: unknown key '{key}': allowed are {', '.join(TOP)}")
    for key in ("title", "time", "sweep"):
        if key not in content:
            raise ToolError(f"{path}: '{key}' is missing: {TOP[key]}")
    if not isinstance(content["time"], str) or not re.fullmatch(r"\d\d+:[0-5]\d:[0-5]\d", content["time"]):
        raise ToolError(f"{path}: time = {content['time']!r}: allowed is {TOP['time']}")
    if not isinstance(content["title"], str):
        raise ToolError(f"{path}: title = {content['title']!r}: allowed is {TOP['title']}")
    if not KEYS["sizes"].accepts(content.get("preflight_sizes", "1")):
        raise ToolError(f"{path}: preflight_sizes = {content['preflight_sizes']!r}: allowed are {TOP['preflight_sizes']}")
    sweeps = content["sweep"]
    if not isinstance(sweeps, list) or not sweeps or not all(isinstance(sweep, dict) for sweep in sweeps):
        raise ToolError(f"{path}: 'sweep' must be one or more tables [[sweep]]")


def _axes(path, number, sweep):
    """{key: values} of one [[sweep]]. Checks every value."""
    where = f"{path}: [[sweep]] {number}"
    axes = {}
    for key, value in sweep.items():
        if key not in KEYS:
            raise ToolError(f"{where}: unknown key '{key}': allowed are {', '.join(KEYS)}")
        axes[key] = value if isinstance(value, list) else [value]
        if not axes[key]:
            raise ToolError(f"{where}: {key} is an empty list: give at least one value")
        for one in axes[key]:
            if not KEYS[key].accepts(one):
                raise ToolError(f"{where}: {key} = {one!r}: allowed is {KEYS[key].allowed}")
    if "methods" not in axes:
        raise ToolError(f"{where}: 'methods' is missing: {KEYS['methods'].allowed}")
    if "batch" in axes and "global_batch" in axes:
        raise ToolError(f"{where}: batch and global_batch exclude each other: batch is that of one rank, global_batch that of all ranks")
    return axes


def _point(where, chosen, system):
    """One point: its launch, and the options of its program."""
    program = chosen.pop("program", TRAIN)
    nodes, ranks_per_node = chosen.pop("nodes", 1), chosen.pop("ranks_per_node", system.number("RANKS_PER_NODE"))
    for key in chosen:
        if program not in KEYS[key].programs:
            allowed = ", ".join(name for name, known in KEYS.items() if program in known.programs)
            raise ToolError(f"{where}: {program} takes no '{key}': allowed are {allowed}")
    if nodes > system.number("MAX_NODES"):
        raise ToolError(f"{where}: nodes = {nodes}: allowed are 1 to {system['MAX_NODES']} (MAX_NODES of system "
                      f"{system.name})")
    if "global_batch" in chosen:
        batch, rest = divmod(chosen.pop("global_batch"), nodes * ranks_per_node)
        if rest or not batch:
            raise ToolError(f"{where}: global_batch must be a multiple of the ranks, {nodes} x {ranks_per_node}")
        chosen["batch"] = batch
    if chosen.get("link") == "real":
        del chosen["link"]
    if chosen.get("sweep_buckets") is False:
        del chosen["sweep_buckets"]
    if "sweep_buckets" in chosen and "rates" in chosen:
        raise ToolError(f"{where}: sweep_buckets and rates exclude each other: the file of rates names the best bucket sizes")
    if program == ALLREDUCE:  # gradcomp-train adds its controls itself; without them there is no comparison
        given = chosen["methods"].split(",")
        chosen["methods"] = ",".join([c for c in CONTROLS if c != "no_exchange" and c not in given] + given)
    return {"program": program, "nodes": nodes, "ranks_per_node": ranks_per_node, "options": chosen}


def named(point):
    """The point with its name, which it may have already. The same work always has the same name, by which a later submission finds
    what is finished."""
    work = {key: value for key, value in point.items() if key != "id"}
    digest = hashlib.sha256(json.dumps(work, sort_keys=True).encode()).hexdigest()[:8]
    program = point["program"].removeprefix("gradcomp-")
    what = "preflight" if point.get("preflight") else point["options"].get("model", program)
    return {"id": f"{what}-n{point['nodes']}x{point['ranks_per_node']}-{digest}"} | work


def read_experiment(path, system):
    """{title, time, points}: the points in the order of the file, after one preflight for each number of nodes and ranks."""
    content = read_toml(path)
    _check_top(path, content)
    points = []
    for number, sweep in enumerate(content["sweep"], 1):
        axes = _axes(path, number, sweep)
        for values in itertools.product(*axes.values()):
            chosen = dict(zip(axes, values, strict=True))
            if "rates" in chosen:
                chosen["rates"] = str((path.parent / chosen["rates"]).resolve())
            points.append(named(_point(f"{path}: [[sweep]] {number}", chosen, system)))
    sizes = content.get("preflight_sizes", PREFLIGHT_SIZES)
    shapes = dict.fromkeys((point["nodes"], point["ranks_per_node"]) for point in points)
    preflight = [named({"preflight": True, "program": ALLREDUCE, "nodes": nodes, "ranks_per_node": ranks_per_node,
                         "options": {"methods": "fp32", "sizes": sizes}}) for nodes, ranks_per_node in shapes]
    unique = {point["id"]: point for point in preflight + points}  # two sweeps may share a point: it runs once
    return {"title": content["title"], "time": content["time"], "points": list(unique.values())}
