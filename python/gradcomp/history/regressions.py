"""Open regressions: which case is slower or costs more, since which night, and by which commit."""
import dataclasses
import pathlib

from gradcomp.gate import decide
from gradcomp.gate.exact import Change
from gradcomp.gate.output import change_line

from . import check, nights, repository

TIME = "time"


@dataclasses.dataclass
class Regression:
    """`good`: the last night that was still good; `first`: the first one that was not; `words`: the text of the newest
    verdict."""

    case: str
    measure: str  # TIME or the column of a deterministic figure
    good: nights.Night
    first: nights.Night
    words: str
    drift: bool  # found only against the anchor: many small steps that the gate does not report alone
    commits: list | None = None  # (commit, subject) of all commits that may be the cause; None if git does not know them
    bisected: str = ""  # the case whose bisection named the commit: this one, or another size of it

    @property
    def suspects(self):
        """The suspected commits in one line."""
        if self.good.commit == self.first.commit:
            return f"none: both nights measured commit {self.first.commit}, so the machine changed and not the code"
        if self.commits is None:
            return f"after {self.good.commit}, up to {self.first.commit} (git does not know both)"
        if len(self.commits) == 1:
            [(commit, subject)] = self.commits
            return f"commit {commit[:12]}: {subject}" + (f" (bisected by {self.bisected})" if self.bisected else "")
        return f"one of {len(self.commits)} commits after {self.good.commit}, up to {self.first.commit}"


def _found(verdict):
    """({(case, measure): (words, drift)} of regressions, the (case, measure) that were judged and are not regressions)."""
    bad, fine = {}, set()
    for case in verdict["cases"]:
        key = (case["name"], TIME)
        if case["verdict"] == decide.REGRESSION:
            bad[key] = case["reason"], case["against"] == check.ANCHOR
        elif case["verdict"] in (decide.OK, decide.FASTER):
            fine.add(key)
    for change in verdict["changes"]:
        fields = {key: value for key, value in change.items() if key != "against"}
        if change["regression"]:
            words = change_line(Change(**fields)).removeprefix(f"{change['case']}: ").removesuffix(" (REGRESSION)")
            bad[change["case"], change["column"]] = words, change["against"] == check.ANCHOR
    return bad, fine - set(bad)


def find(judged):
    """The regressions that are open after the newest of the judged nights. An inconclusive night neither opens nor closes
    one."""
    by_name, open_ones, right = {night.name: night for night in judged}, {}, {}
    compared = None  # the last night before that could be compared: all of its deterministic figures were judged
    for night in judged:
        verdict = night.verdict
        if night.accepted or verdict[check.GOOD] is None:
            open_ones, right, compared = {}, {}, night
            continue
        if verdict["status"] == check.NOT_COMPARABLE:
            continue
        bad, fine = _found(verdict)
        for key in [key for key in open_ones if key not in bad and (key in fine or key[1] != TIME)]:
            del open_ones[key]
        for key in fine:
            right[key] = night
        for key, (words, drift) in bad.items():
            good = by_name[verdict[check.ANCHOR if drift else check.GOOD]]
            later = right.get(key) if key[1] == TIME else compared
            if not drift and later and later.name > good.name:
                good = later
            if key in open_ones:
                open_ones[key].words = words
            else:
                case, measure = key
                open_ones[key] = Regression(case, measure, good, night, words, drift)
        compared = night
    return sorted(open_ones.values(), key=lambda one: (one.first.name, one.case, one.measure))


def bisections(history):
    """The results of `bisect` so far, oldest first."""
    return [nights.read_file(path, nights.BISECTION) for path in sorted((history / nights.BISECTIONS).glob("*.json"))]


def _kind(case):
    """Operation and method without the size: the commit is the same for all sizes of a case."""
    return case.rsplit("/", 1)[0]


def name_commits(found, source, known):
    """Fills in the commits of regressions: those between the two nights in the repository `source`, and the one that a
    bisection named."""
    for one in found:
        one.commits = repository.between_or_none(source, one.good.commit, one.first.commit)
        for bisection in known:
            if _kind(bisection["case"]) != _kind(one.case) or not bisection["commits"] or one.drift:
                continue
            inside = [commit for commit in bisection["commits"]
                      if one.commits is None or any(commit[0] == other[0] for other in one.commits)]
            covers = one.commits is not None or (bisection["good"], bisection["bad"]) == (one.good.commit, one.first.commit)
            if covers and len(inside) == len(bisection["commits"]):
                one.commits, one.bisected = [tuple(commit) for commit in inside], bisection["case"]
    return found


def named(history, judged, source):
    """The open regressions, with their commits as far as git and bisections know them."""
    return name_commits(find(judged), source, bisections(pathlib.Path(history)))
