"""Tools that read results with a damaged file among them: reports, the gate, histories, pages, rates and records of mutants."""
import json
import pathlib
import shutil
import types

import pytest

pytest.importorskip("hypothesis")
pytest.importorskip("matplotlib")
from hypothesis import given
from hypothesis import strategies as st

import compare_files
import damage
import example_records
import example_results
import history_files
import page_files
import tool_process
from damage import edited
from gradcomp.gate import check_deterministic, deterministic
from gradcomp.mutate import mutants, record, trial
from gradcomp.pages import frame, results
from gradcomp.report import cli
from gradcomp.results import reading

ROOT = pathlib.Path(__file__).resolve().parents[2]
QUICK = ("kernels", "kokkos-kernels", "steps", "quantisers", "gate")  # pages that are made in less than a second
CLASS = "a-fabricated-1-threads-openmp"
RATES = {"methods": {"fp32": {"lr": 0.2, "trials": [{"lr": 0.1, "seconds": 3}, {"lr": 0.2, "seconds": 4}]}}}


def write(path, document):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")


def several(link=None):
    """A training with three seeds, as gradcomp-train writes it; with a link over three emulated ones."""
    document = example_results.written(link)
    for row in document["benchmarks"] if link else ():
        row["over_links"] = [{"rate_mbit_s": rate, "step_time_ms": row["step_time_ms"]} for rate in (100, 1000, 300)]
    found = example_records.over_seeds(document)
    return found | {"benchmarks": [row for row in found["benchmarks"] if row["run_type"] != "aggregate"]}


def diverged():
    document = example_results.written()
    example_results.diverge(document["benchmarks"][4], 12)
    return document


RESULTS = {"training": example_results.written, "seeds": several, "links": lambda: several("100Mbit/s,50us"), "diverged": diverged,
           "allreduce": example_results.allreduce, "bench": example_results.bench, "evaluate": example_results.evaluate}


def write_two(folder):
    write(folder / "links.json", several("100Mbit/s,50us"))
    write(folder / "allreduce.json", example_results.allreduce())
    write(folder / "report.html", "an older report")


def report(folder, *options):
    return tool_process.call(cli.main, "gradcomp-report", folder, *options)


def write_arms(folder):
    for name in ("a", "b"):
        compare_files.write_arm(folder / name, name, processes=10, cases={compare_files.CASE: 2.0, "read/1048576": 0.25})
    write(folder / "verdict.json", "an older verdict")


def write_history(folder):
    for day in (1, 2, 3):
        night = folder / "nights" / f"2025-01-0{day}T020000Z_{'abcdef'[day] * 12}"
        history_files.write_times(night / "times", "abcdef"[day] * 12, day, cases={compare_files.CASE: 2.0},
                                  slow={compare_files.CASE: 1 + (day == 3)})
        counts = history_files.write_counts(night / "counts.json", "abcdef"[day] * 12, day, 1000 * day)
        write(counts, deterministic.text(deterministic.read(counts)))
        write(night / "night.json", {"schema_version": 1, "commit": "abcdef"[day] * 12, "dirty": False, "class": CLASS, "digest": "d",
                                     "began": f"2025-01-0{day}T02:00:00+00:00"})
    write(folder / "nights" / night.name / "accepted.json", {"reason": "meant"})
    write(folder / "nights/bisections/one.json", {"case": compare_files.CASE, "good": "b" * 12, "bad": "d" * 12, "by": "times",
                                                  "commits": [["c" * 12, "A change"]], "tried": [], "conclusion": "found"})
    history_files.history("check", folder / "nights")  # keeps the verdicts
    (folder / "nights" / night.name / "accepted.json").unlink()
    history_files.write_times(folder / "new", "e" * 12, 4, cases={compare_files.CASE: 2.0})
    write(folder / "page.html", "an older page")


def write_figures(folder):
    made = history_files.write_counts(folder / "counts.json", "b" * 12, 1, 1000)
    write(folder / "counted.json", made.read_text(encoding="utf-8"))
    write(folder / "baseline.json", deterministic.text(deterministic.read(made)))


def check_figures(folder):
    options = types.SimpleNamespace(baseline=folder / "baseline.json", but=[], refresh=False)
    return damage.guard("check_deterministic", lambda: check_deterministic.check(
        options, *(deterministic.read(folder / name) for name in ("counted.json", "counts.json"))))


SETTING = {"path": "p", "seed": 1, "tests": ["t"], "commit": "c", "sources": "s", "files": "f"}


def write_mutants(folder):
    made = record.Record(folder, "whole", SETTING)
    made.add(mutants.Mutant("a.py", 1, "one\n", "two\n"), (trial.SURVIVED, ""))
    made.add(mutants.Mutant("a.py", 2, "one\n", "two\n"), (trial.KILLED, "stage 1"))
    made.finish(True)
    record.Record(folder, "part", SETTING).add(mutants.Mutant("a.py", 1, "one\n", "two\n"), (trial.SURVIVED, ""))


def continue_mutants(folder, name):
    def work():
        made = record.Record(folder, name, SETTING)
        made.keep_all_but_survivors()
        made.add(mutants.Mutant("a.py", 3, "one\n", "two\n"), (trial.KILLED, ""))
        made.finish(True)
    return damage.guard("gradcomp-mutate", work)


def rates(folder):
    return damage.guard("rates", lambda: reading.read_rates(folder / "rates.json"))


def write_toy(folder):
    page = page_files.Toy(folder)
    for job in page.jobs(None):
        kept = {"command": list(map(str, job.words)), "seconds": 1.0, "leaves": {}}
        document = example_results.written()
        document["context"]["gradcomp"]["git_hash"] = page_files.COMMIT
        write(folder / "records" / f"{job.name}.json", kept | document)
    write(folder / "page.md", "an older page")


# {name: (what writes right input, patterns of the files that are damaged, what runs the tool, its statuses, examples)}
TOOLS = {
    **{f"text of {name}": (lambda folder, make=make: write(folder / "a.json", make()), ["a.json"],
                           lambda folder: report(folder, "--text"), (0,), 12) for name, make in RESULTS.items()},
    "report": (write_two, ["*.json"],
               lambda folder: report(folder, "--markdown", folder / "report.md"), (0,), 1),
    "gradcomp-compare": (write_arms, ["a/003.json", "b/*.json"], lambda folder: compare_files.compare(
        folder / "a", folder / "b", "--json", folder / "verdict.json", "--junit", folder / "j.xml", "--markdown", folder / "m.md"),
        (0, 1, 3), 12),
    "gradcomp-history check": (write_history, ["nights/**/*.json"], lambda folder: history_files.history("check", folder / "nights"),
                               (0, 1, 3), 30),
    "gradcomp-history page": (write_history, ["nights/*/night.json", "nights/*/verdict.json", "nights/*/counts.json", "nights/bis*/*"],
                              lambda folder: history_files.history("page", folder / "nights", "--output", folder / "page.html"),
                              (0,), 2),
    "gradcomp-history add": (write_history, ["new/*.json", "nights/*/night.json"],
                             lambda folder: history_files.history("add", folder / "nights", folder / "new"), (0,), 12),
    "check_deterministic": (write_figures, ["*.json"], check_figures, (0, 1), 60),
    "gradcomp-mutate, whole": (write_mutants, ["whole.json"], lambda folder: continue_mutants(folder, "whole"), (0,), 40),
    "gradcomp-mutate, part": (write_mutants, ["part.part.json"], lambda folder: continue_mutants(folder, "part"), (0,), 40),
    "rates": (lambda folder: write(folder / "rates.json", RATES), ["rates.json"], rates, (0,), 60),
    "a page": (write_toy, ["records/*.json"], lambda folder: page_files.make(page_files.Toy(folder), folder, "--page"), (0,), 20),
}


# What was once an error that nobody had foreseen: (tool, pattern of the file, change, words)
FOUND = [
    ("text of allreduce", "a.json", edited(lambda made: made["benchmarks"].append(made["benchmarks"][0])), "bytes twice"),
    ("gradcomp-history check", "nights/*3T*/verdict.json", edited(lambda made: made.pop("rules")), "'rules' is a required"),
    ("gradcomp-history check", "nights/*3T*/night.json", edited(lambda made: made.update({"class": "\ud800"})), "surrogates"),
    ("gradcomp-history page", "nights/bis*/one.json", lambda _: b"{}", "one.json' breaks the form of a bisection at $: "),
    ("gradcomp-history add", "new/*", edited(lambda made: made["context"].update(date="2025-13-01T00:00:00Z")), "month must be"),
    ("check_deterministic", "counts.json", edited(lambda made: made["context"]["gradcomp"].update(options=None)), "gradcomp-bench: "),
    ("gradcomp-mutate, whole", "whole.json", edited(lambda made: made["mutants"].append(None)), "of mutants at $.mutants[2]"),
    ("a page", "records/first.json", edited(lambda made: made.update(command=[1])), "first.json' is not a record at $.command[0]"),
]


@pytest.fixture(name="rigs", scope="module")
def fixture_rigs(tmp_path_factory):
    """rig(name, write): the folder of a tool, which is written once."""
    made = {}

    def rig(name, write):
        if name not in made:
            folder = tmp_path_factory.mktemp("rig") / "a b"
            folder.mkdir()
            write(folder)
            made[name] = damage.Rig(folder)
        return made[name]
    return rig


@pytest.mark.parametrize("name, pattern, change, words", FOUND)
def test_what_was_found_is_one_line(name, pattern, change, words, rigs):
    prepare, _, run, *_ = TOOLS[name]
    rig = rigs(name, prepare)
    one = rig.matching(pattern)[0]
    done = rig.hold(one, change(rig.right[one]), lambda: run(rig.folder), ())
    assert words in done.stderr, done.stderr


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_reads_damaged_results_or_says_what_is_wrong(name, rigs):
    prepare, patterns, run, statuses, count = TOOLS[name]
    rig = rigs(name, prepare)
    chosen = rig.matching(*patterns)
    with rig.damage(chosen[0], rig.right[chosen[0]]):
        right = run(rig.folder)
        assert right.returncode in statuses, right.stderr

    @damage.examples(count)
    @given(st.data())
    def holds(data):
        one = data.draw(st.sampled_from(chosen))
        rig.hold(one, data.draw(damage.damaged(rig.right[one])), lambda: run(rig.folder), statuses)
    holds()


@pytest.mark.parametrize("name", [name for name in results.PAGES if name in QUICK or damage.MORE > 1])
def test_a_published_page_is_made_of_damaged_records_or_says_what_is_wrong(name, rigs):
    page = results.PAGES[name]

    def prepare(folder):
        shutil.copytree(ROOT / "docs/results/records" / name, folder / "records")
        write(folder / "page.md", "an older page")

    def run(folder):
        images = ["--images", folder / "images"] if page.images else []
        return tool_process.call(lambda: frame.main(page), page.tool, "--page", "--records", folder / "records",
                                 "--output", folder / "page.md", *images)
    rig = rigs(name, prepare)

    @damage.examples(3)
    @given(st.data())
    def holds(data):
        chosen = data.draw(st.sampled_from(rig.matching("records/*.json")))
        rig.hold(chosen, data.draw(damage.damaged(rig.right[chosen])), lambda: run(rig.folder), (0, 1))
    holds()
