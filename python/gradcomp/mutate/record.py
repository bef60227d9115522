"""The outcome of each mutant: a record that grows during a run, and a page that is written at its end."""
import collections
import dataclasses
import functools
import json
import pathlib

from gradcomp.errors import ToolError
from gradcomp.json_files import read_json, require, validator
from gradcomp.output import files

from .mutants import Mutant
from .trial import EQUIVALENT, KILLED, SURVIVED, UNBUILDABLE

COUNTED = (KILLED, SURVIVED)
STATUSES = [KILLED, SURVIVED, UNBUILDABLE, EQUIVALENT]


class Record:
    """The outcomes of mutants, kept in NAME.part.json; `finish` makes NAME.json and NAME.md. `setting` describes what was
    tested. With the same files and seed, a run continues where the last one was interrupted or ended."""

    def __init__(self, folder, name, setting):
        self._part, self._whole = folder / f"{name}.part.json", folder / f"{name}.json"
        self._page, self._setting, self.outcomes = folder / f"{name}.md", setting, {}
        for path in (self._part, self._whole):
            found = _read(path) if path.exists() else None
            if found and self._same(found, "files", "seed"):
                self.outcomes = _outcomes(found) if self._same(found, "tests") else _all_but_survivors(found)
                return

    def _same(self, found, *keys):
        return all(found["setting"][key] == self._setting[key] for key in keys)

    def keep_all_but_survivors(self):
        """Starts from the last complete record, unless a run like this one was interrupted. Throws ToolError if the record is
        of other sources."""
        if self._part.exists() and self.outcomes:
            return
        if not self._whole.exists():
            raise ToolError(f"there is no '{self._whole}' whose survivors could be tried again")
        found = _read(self._whole)
        if not self._same(found, "sources", "seed"):
            raise ToolError(f"'{self._whole}' is of other sources or of another seed")
        self.outcomes = _all_but_survivors(found)

    def add(self, mutant, outcome):
        """Keeps an outcome: (status, cause)."""
        self.outcomes[mutant] = outcome
        files.write_all({self._part: _text(self._setting, self.outcomes)})

    def counted(self):
        """Number of mutants that the score counts."""
        return sum(status in COUNTED for status, _ in self.outcomes.values())

    def finish(self, everything):
        """Writes the record and the page and returns the score in words. `everything`: whether all mutants were tested."""
        summary = summarise(self.outcomes)
        files.write_all({self._whole: _text(self._setting | {"everything": everything}, self.outcomes, summary),
                         self._page: page(self._setting, self.outcomes, summary)})
        self._part.unlink(missing_ok=True)
        return sentence(summary)


@functools.cache
def _validator():
    text, number = {"type": "string"}, {"type": "integer"}
    mutant = {"file": text, "line": number, "before": text, "after": text, "status": {"enum": STATUSES}, "by": text}
    setting = {"files": text, "sources": text, "seed": number, "tests": {"type": "array"}}
    return validator({
        "type": "object", "required": ["setting", "mutants"], "properties": {
            "setting": {"type": "object", "required": list(setting), "properties": setting},
            "mutants": {"type": "array", "items": {"type": "object", "required": list(mutant), "properties": mutant}}}})


def _read(path):
    found = read_json(path)
    require(found, _validator(), f"'{path}' is not a record of mutants")
    return found


def _outcomes(found):
    return {Mutant(one["file"], one["line"], one["before"], one["after"]): (one["status"], one["by"])
            for one in found["mutants"]}


def _all_but_survivors(found):
    return {mutant: outcome for mutant, outcome in _outcomes(found).items() if outcome[0] != SURVIVED}


def _text(setting, outcomes, summary=None):
    mutants = [dataclasses.asdict(mutant) | {"status": status, "by": by} for mutant, (status, by) in outcomes.items()]
    return json.dumps({"schema_version": 1, "setting": setting, "summary": summary, "mutants": mutants}, indent=1) + "\n"


def summarise(outcomes):
    """Counts by status, the share of killed ones among those that build and differ, and its interval (Wilson, 95 %)."""
    from scipy.stats import binomtest
    counts = collections.Counter(status for status, _ in outcomes.values())
    found: dict[str, object] = {status: counts[status] for status in STATUSES}
    tried = counts[KILLED] + counts[SURVIVED]
    if tried:
        low, high = binomtest(counts[KILLED], tried).proportion_ci(0.95, method="wilson")
        found |= {"score": counts[KILLED] / tried, "interval": [float(low), float(high)]}
    return found


def sentence(summary):
    """The score in words."""
    left_out = f"{summary[UNBUILDABLE]} more do not build, {summary[EQUIVALENT]} are equivalent"
    if "score" not in summary:
        return f"no mutant builds and differs; {left_out}"
    low, high = summary["interval"]
    return (f"{summary[KILLED]} of {summary[KILLED] + summary[SURVIVED]} mutants killed: {summary['score']:.0%} "
            f"({low:.0%} to {high:.0%}); {left_out}")


def page(setting, outcomes, summary):
    """The page of survivors, in the order of their places."""
    lines = [f"# Mutants of {setting['path']}", "", f"{sentence(summary)[0].upper()}{sentence(summary)[1:]}. Commit "
             f"{setting['commit']}, seed {setting['seed']}.", "", "Tests:", *(f"- `{test}`" for test in setting["tests"]), ""]
    for mutant in sorted(mutant for mutant, (status, _) in outcomes.items() if status == SURVIVED):
        lines += [f"{pathlib.PurePosixPath(mutant.file)}:{mutant.line}", "```diff",
                  *(f"-{line}" for line in mutant.before.splitlines()), *(f"+{line}" for line in mutant.after.splitlines()),
                  "```", ""]
    return "\n".join(lines)
