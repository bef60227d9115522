"""Shows a comparison to programs: JSON with all figures, JUnit for CI."""
import dataclasses
import json
from xml.etree import ElementTree

from . import decide
from .output import CONCLUSIONS, change_lines

KINDS = {decide.REGRESSION: "failure", decide.INCONCLUSIVE: "error", decide.NOT_JUDGED: "skipped"}


def document(outcome):
    """The outcome as JSON text."""
    def arm(one):
        return {"name": one.name, "processes": [{"file": process.path.name, "date": process.date}
                                                for process in one.processes],
                "context": one.processes[0].record.gradcomp}
    return json.dumps({"schema_version": 1, "program": "gradcomp-compare", "conclusion": CONCLUSIONS[outcome.status],
                       "exit_status": outcome.status, "normalised": outcome.normalised,
                       "rules": dataclasses.asdict(outcome.rules), "notes": outcome.notes,
                       "baseline": arm(outcome.baseline) | {"control": outcome.baseline.halves},
                       "new": arm(outcome.new) | {"control": None},
                       "cases": [dataclasses.asdict(result) for result in outcome.results],
                       "changes": [dataclasses.asdict(change) for change in outcome.changes]}, indent=1) + "\n"


def junit(outcome):
    """The outcome as JUnit, one testcase per case: regressions fail, inconclusive cases are errors, cases without a verdict are
    skipped."""
    changed = {}
    for change, line in zip(outcome.changes, change_lines(outcome), strict=True):
        if change.regression:
            changed.setdefault(change.case, []).append(line)
    suite = ElementTree.Element("testsuite", name="gradcomp-compare", tests=str(len(outcome.results)))
    totals = {"failure": 0, "error": 0, "skipped": 0}
    for result in outcome.results:
        seconds = 0 if result.new is None or outcome.normalised else result.new / 1000
        element = ElementTree.SubElement(suite, "testcase", classname="gradcomp-compare", name=result.name,
                                         time=f"{seconds:.9f}")
        text = "; ".join([*([result.reason] if result.reason else []), *changed.get(result.name, [])])
        kind = "failure" if result.name in changed else KINDS.get(result.verdict)
        if kind:
            ElementTree.SubElement(element, kind, message=text)
            totals[kind] += 1
    for kind, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        suite.set(name, str(totals[kind]))
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"
