"""Reads slurm/systems/NAME.checks.toml, beside NAME.env: on how many nodes ReFrame checks a system, and what it expects."""
from gradcomp.errors import ToolError
from gradcomp.json_files import read_toml

CHECKS = ("Allreduce", "Compress", "Step")
ENTRIES = {"value": "a number above 0", "lower": "a fraction from -1 to 0", "upper": "a fraction from 0",
           "unit": "the unit that the check prints"}
EXAMPLE = '{ value = 11.8, lower = -0.1, unit = "GB/s" }'


def path_of(system_path):
    """The path of a system's references, whether or not the file exists."""
    return system_path.with_suffix(".checks.toml")


def _number(value, low, high):
    return type(value) in (int, float) and low <= value <= high


def _reference(where, entry):
    """ReFrame's (value, lower, upper, unit). A bound that is not given is not checked."""
    if not isinstance(entry, dict):
        raise ToolError(f"{where} = {entry!r}: allowed is a table such as {EXAMPLE}")
    for key in entry:
        if key not in ENTRIES:
            raise ToolError(f"{where}: unknown key '{key}': allowed are {', '.join(ENTRIES)}")
    huge = float("inf")
    right = {"value": _number(entry.get("value"), 1e-300, 1e300), "unit": isinstance(entry.get("unit"), str),
             "lower": "lower" not in entry or _number(entry["lower"], -1, 0),
             "upper": "upper" not in entry or _number(entry["upper"], 0, huge)}
    for key, good in right.items():
        if not good:
            raise ToolError(f"{where}: {key} = {entry.get(key)!r}: allowed is {ENTRIES[key]}")
    if "lower" not in entry and "upper" not in entry:
        raise ToolError(f"{where}: neither lower nor upper is given: the reference would judge nothing; allowed is a table "
                      f"such as {EXAMPLE}")
    return entry["value"], entry.get("lower"), entry.get("upper"), entry["unit"]


def _nodes(path, content, system):
    known = [nodes for nodes in (1, 2) if nodes <= system.number("MAX_NODES")]
    nodes = content.get("nodes", known)
    if not isinstance(nodes, list) or not nodes or not all(
            type(one) is int and 1 <= one <= system.number("MAX_NODES") for one in nodes):
        raise ToolError(f"{path}: nodes = {nodes!r}: allowed is a list of whole numbers from 1 to {system['MAX_NODES']} "
                      f"(MAX_NODES of system {system.name})")
    return nodes


def read_references(path, system):
    """(numbers of nodes, {(check, nodes): {figure: (value, lower, upper, unit)}}); empty for a system without a file."""
    content = read_toml(path) if path.exists() else {}
    nodes, found = _nodes(path, content, system), {}
    tables = [f"n{number}" for number in nodes]
    for check, parts in content.items():
        if check == "nodes":
            continue
        if check not in CHECKS:
            raise ToolError(f"{path}: unknown key '{check}': allowed are nodes, {', '.join(CHECKS)}")
        allowed = ["n1"] if check == "Compress" else tables
        for name, figures in parts.items() if isinstance(parts, dict) else [("", parts)]:
            if name not in allowed or not isinstance(figures, dict):
                raise ToolError(f"{path}: [{check}.{name}]: allowed are tables {', '.join(f'[{check}.{n}]' for n in allowed)}")
            found[check, int(name.removeprefix("n"))] = {
                figure: _reference(f"{path}: [{check}.{name}] {figure}", entry) for figure, entry in figures.items()}
    return nodes, found
