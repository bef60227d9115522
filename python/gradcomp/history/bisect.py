"""gradcomp-history bisect: builds and measures commits between a good and a bad one, and names the first that is slower."""
import datetime
import pathlib
import sys
import tempfile

from gradcomp.errors import ToolError
from gradcomp.gate import interleave
from gradcomp.output.files import write_all

from . import nights, regressions, repository, search, trials

UNRESOLVED = 3


def _say(line):
    print(line, file=sys.stderr, flush=True)


def _end_points(options, judged):
    """(good, bad, night whose options the trials use): the given commits, or those of the open regression of the case."""
    if options.good and options.bad:
        return options.good, options.bad, judged[-1]
    if options.good or options.bad:
        raise ToolError("--good and --bad belong together: give both, or none if the regression is open")
    open_ones = regressions.find(judged)
    found = [one for one in open_ones if one.case == options.case]
    if not found:
        cases = ", ".join(dict.fromkeys(one.case for one in open_ones)) or "none"
        raise ToolError(f"'{options.case}' has no open regression; open are: {cases}. --good A --bad B bisects without an open "
                        "regression")
    one = next((one for one in found if one.measure == "instructions"), found[0])
    if options.by is None:
        options.by = trials.INSTRUCTIONS if one.measure == "instructions" else trials.TIMES
    return one.good.commit, one.first.commit, one.first


def _try(tried, test, commits, place):
    """Tests one commit, prints the answer and remembers it."""
    commit, subject = commits[place]
    told, words = test(commit)
    answer = {True: "slower", False: "good", None: "skipped"}[told]
    _say(f"{commit[:12]} {answer}: {words} ({subject})")
    tried.append({"commit": commit, "subject": subject, "answer": answer, "words": words})
    return told


def _search(options, arguments, commits, good, folder):
    """(places where the first slow commit may be, trials); no places if the last commit is not slower."""
    tried = []
    names = ("good", "other")
    with repository.work_trees(options.repository, folder, names, good) as trees:
        trial = trials.Trials(options, arguments, pathlib.Path(folder), trees)
        try:
            trial.start(good)
        except trials.Unbuildable as error:
            raise ToolError(f"the good commit {good[:12]} cannot be measured: {error}") from error
        if not _try(tried, trial.slower, commits, len(commits) - 1):
            return [], tried
        return search.search(len(commits), lambda place: _try(tried, trial.slower, commits, place)), tried


def _conclusion(options, found, tried, last):
    """The conclusion in one line."""
    if not found:
        return f"{options.case}: {last[0][:12]} is not slower than {options.good_commit[:12]}: {tried[-1]['words']}"
    if len(found) == 1:
        return f"{options.case} is slower since commit {found[0][0][:12]}: {found[0][1]}"
    return (f"{options.case} is slower since one of {len(found)} commits, all but the last of which could not be tested: "
            + ", ".join(commit[:12] for commit, _ in found))


def bisect(options, judged):
    """Bisects and writes the result into the history. Exit status: 0 if one commit is named, 3 if none can be named."""
    good, bad, night = _end_points(options, judged)
    counts = night.counts()
    counted = counts and any(row["name"] == options.case for row in counts["benchmarks"])
    options.by = options.by or (trials.INSTRUCTIONS if counted else trials.TIMES)
    preset = trials.PRESETS[options.by]
    options.build = options.build or f"./run build {preset} gradcomp-bench"
    options.program = options.program or f"build/{preset}"
    arguments = interleave.bench_arguments(options.bench_args) or trials.bench_arguments(night, options.case, options.by)
    commits = repository.between(options.repository, good, bad)
    if not commits:
        raise ToolError(f"there is no commit after {good} up to {bad}")
    options.good_commit = repository.git(options.repository, "rev-parse", f"{good}^{{commit}}").strip()
    _say(f"{len(commits)} commits after {good} up to {bad}, by {options.by}; measured with {' '.join(arguments)}")
    with tempfile.TemporaryDirectory(prefix="gradcomp-history.") as folder:
        places, tried = _search(options, arguments, commits, options.good_commit, folder)
    found = [commits[place] for place in places]
    line = _conclusion(options, found, tried, commits[-1])
    target = pathlib.Path(options.history) / nights.BISECTIONS
    target.mkdir(exist_ok=True)
    now = datetime.datetime.now(datetime.UTC)
    write_all({target / f"{now:%Y-%m-%dT%H%M%S.%fZ}.json": nights.text(
        {"schema_version": 1, "case": options.case, "by": options.by, "good": good, "bad": bad, "commits": found,
         "tried": tried, "conclusion": line})})
    print(line)
    return 0 if len(found) == 1 else UNRESOLVED
