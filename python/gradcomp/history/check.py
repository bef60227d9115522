"""Judges every night against the last good one before it, by the gate of gradcomp-compare.

A night is good when the gate passes it (status 0), or when somebody accepted it with a reason. A regression, an inconclusive
night and one that cannot be compared never become the baseline. Steps that are each too small for the gate would add up
unseen, so that regressions against the *anchor*, the first night or the one accepted last, count as well."""
import dataclasses

from gradcomp.errors import ToolError
from gradcomp.gate import comparable, decide, deterministic, output
from gradcomp.output.files import write_all

from . import nights

RULES = decide.Rules()
GOOD, ANCHOR = "good", "anchor"
NOT_COMPARABLE = 2


def _times(baseline, new):
    """The gate's outcome of two arms, which were measured in turn or are normalised."""
    for arm in (baseline, new):
        comparable.check_arm(arm, RULES.minimum)
    comparable.check(baseline, new)
    return decide.compare(baseline, new, comparable.dates_differ(baseline, new), RULES, list(baseline.cases))


def _compare(baseline, night):
    """(outcome of the times or None, changes of deterministic figures, notes). Throws ToolError."""
    before, after = baseline.counts(), night.counts()
    old, new = baseline.arm(), night.arm()
    for what, one, other in (("times", old, new), ("instruction counts", before, after)):
        if one and not other:
            raise ToolError(f"night {night.name} has no {what}, but night {baseline.name} has")
    control = night.arm(nights.CONTROL)
    if control and control.processes[0].record.gradcomp["git_hash"] == baseline.commit:
        old = control
    outcome = _times(old, new) if old else None
    changes, notes = deterministic.compare(before, after) if before else ([], [])
    known = {(change.case, change.column) for change in changes}
    changes += [change for change in (outcome.changes if outcome else []) if (change.case, change.column) not in known]
    return outcome, changes, notes


def _against(which, compared):
    """Cases and changes as dictionaries; against the anchor only regressions."""
    outcome, changes, _ = compared
    cases = [dataclasses.asdict(case) | {"against": which} for case in (outcome.results if outcome else [])
             if which == GOOD or case.verdict == decide.REGRESSION]
    return cases, [dataclasses.asdict(change) | {"against": which} for change in changes
                   if which == GOOD or change.regression]


def judge(night, good, anchor):
    """The verdict as it is kept in JSON."""
    verdict = {"schema_version": 1, "rules": dataclasses.asdict(RULES), GOOD: good and good.name,
               ANCHOR: anchor and anchor.name, "status": 0, "conclusion": nights.FIRST, "in_turn": False, "cases": [],
               "changes": [], "notes": []}
    if good is None:
        return verdict
    try:
        compared = _compare(good, night)
        cases, changes = _against(GOOD, compared)
        if anchor.name != good.name:
            drift = _against(ANCHOR, _compare(anchor, night))
            seen = {case["name"] for case in cases if case["verdict"] == decide.REGRESSION}
            figures = {(change["case"], change["column"]) for change in changes}
            cases += [case for case in drift[0] if case["name"] not in seen]
            changes += [change for change in drift[1] if (change["case"], change["column"]) not in figures]
    except ToolError as error:
        words = str(error).removeprefix("not comparable: ")
        return verdict | {"status": NOT_COMPARABLE, "conclusion": f"not comparable: {words}"}
    verdicts = [case["verdict"] for case in cases]
    slower = verdicts.count(decide.REGRESSION)
    figures = sum(change["regression"] for change in changes)
    status = 1 if slower or figures else 3 if decide.INCONCLUSIVE in verdicts else 0
    words = (f"{output.CONCLUSIONS[status]}: {slower} of {len({case['name'] for case in cases})} cases slower, "
             f"{verdicts.count(decide.INCONCLUSIVE)} inconclusive; {figures} deterministic figures worse")
    return verdict | {"status": status, "conclusion": words, "cases": cases, "changes": changes, "notes": compared[2],
                      "in_turn": compared[0] is not None and not compared[0].normalised}


def baselines(history_nights):
    """(night, last good night before it, anchor) for each night, and finally (None, ...) for the next night to come. Each night
    must be judged before the next one is taken."""
    good = anchor = None
    for night in history_nights:
        yield night, good, anchor
        if good is None or night.accepted:
            good = anchor = night
        elif (night.verdict or {"status": None})["status"] == 0:
            good = night
    yield None, good, anchor


def check(history_nights):
    """Judges the nights without a verdict against their present baselines and keeps the verdicts. Returns the baseline of the
    next night, or None."""
    for night, good, anchor in baselines(history_nights):
        if night is None:
            return good
        verdict = night.verdict
        basis = {GOOD: good and good.name, ANCHOR: anchor and anchor.name, "rules": dataclasses.asdict(RULES)}
        if verdict is None or any(verdict[key] != value for key, value in basis.items()):
            write_all({night.folder / nights.VERDICT: nights.text(judge(night, good, anchor))})


def last_good(history):
    """The night with which the next one is compared, or None if the history has none yet."""
    return check(nights.read(history))


def judged(history):
    """All nights, each with its verdict; at least one. Throws ToolError."""
    found = nights.require(history)
    check(found)
    return found


def status(night):
    """Exit status of a judged night; 0 if the night was accepted."""
    return 0 if night.accepted else night.verdict["status"]
