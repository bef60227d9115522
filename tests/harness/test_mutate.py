"""tools/gradcomp-mutate on a tiny project whose program is a text: the verdict for each kind of mutant, samples, and interrupted
runs. A stand-in for universalmutator makes the mutants."""
import json
import pathlib
import signal
import subprocess
import sys

import pytest

import tool_process

pytest.importorskip("scipy.stats")
TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "gradcomp-mutate"
from gradcomp.mutate import cli, folders, mutants, record, tree, trial

MUTATOR = """
CHANGES = {"one = 1": ["one = 2", "one = BROKEN"], "two = 2": ["two = 3"], "three = 3": ["three = 3  # as before", "three = ("]}
def mutants_regexp(source, ruleFiles, ignorePatterns):
    return [(number, line.replace(old, new), "rule") for number, line in enumerate(source, 1)
            for old, all in CHANGES.items() if old in line for new in all]
"""
TABLE = """
build = "sh build.sh"
excluded = []
objects = "build/*.o"
[text]
path = "src/text"
library = "build/library"
stages = [{ targets = ["text"], run = "sh first.sh" }, { run = "sh second.sh" }]
[python]
path = "src/python"
stages = [{ run = "python3 -B -c 'import sys; sys.path[0] = \\"src/python\\"; import a; sys.exit(a.three != 3)'" }]
"""
FILES = {
    ".gitignore": "build/\nresults/\n", "table.toml": TABLE,
    "build.sh": "! grep -q BROKEN src/text/*.cpp && mkdir -p build && sed 's/ *#.*//' src/text/a.cpp >build/library\n",
    "first.sh": "echo run >>build/log; grep -q 'one = 1' build/library\n", "second.sh": "true\n",
    "src/text/a.cpp": "one = 1\ntwo = 2\nthree = 3\n", "src/text/notes.md": "one = 1\n",
    "src/python/a.py": '"""one = 1"""\nthree = 3\n'}


@pytest.fixture(name="project")
def fixture_project(tmp_path, monkeypatch):
    for name, text in FILES.items():
        path = tmp_path / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    module = tmp_path / "mutator" / "universalmutator"
    module.mkdir(parents=True)
    (module / "__init__.py").touch()
    (module / "mutator.py").write_text(MUTATOR, encoding="utf-8")
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "All"]):
        subprocess.run(["git", "-C", tmp_path / "project", *words], check=True)
    monkeypatch.syspath_prepend(tmp_path / "mutator")  # for the calls within this process
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "mutator"))  # for others
    yield tmp_path / "project"
    for name in [name for name in sys.modules if name.startswith("universalmutator")]:
        del sys.modules[name]


def words(project, *arguments):
    return ["--project", project, "--table", project / "table.toml", *arguments]


def mutate(project, *arguments):
    return tool_process.call(cli.main, TOOL, *words(project, *arguments))


def results(project, name="text"):
    found = json.loads((project / f"results/mutation/{name}.json").read_text(encoding="utf-8"))
    return found["summary"], {one["after"].strip(): one["status"] for one in found["mutants"]}


def test_every_kind_of_mutant(project):
    done = mutate(project, "text")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:2] == ["sh: passes without a mutant in 0 s"] * 2
    assert sorted(lines[2:-1]) == ["src/text/a.cpp:1: does not build", "src/text/a.cpp:1: killed by stage 1: it said nothing",
                                   "src/text/a.cpp:2: survived", "src/text/a.cpp:3: equivalent", "src/text/a.cpp:3: survived"]
    assert lines[-1] == "src/text: 1 of 3 mutants killed: 33% (6% to 79%); 1 more do not build, 1 are equivalent"
    assert mutate(project, "text", "--list").stdout == "src/text: 5 mutants\n"
    assert mutate(project, "--list").stdout == "src/text: 5 mutants\nsrc/python: 2 mutants\n"
    assert mutate(project, "--help").stdout.startswith("usage: gradcomp-mutate [-h] [--list]")
    summary, found = results(project)
    # This builder accepts "three = (".
    assert found == {"one = 2": "killed", "one = BROKEN": "does not build", "two = 3": "survived", "three = (": "survived",
                     "three = 3  # as before": "equivalent"}
    assert summary["killed"] == 1 and summary["survived"] == 2 and summary["score"] == pytest.approx(1 / 3)
    # Wilson, 1 of 3: (1/3 + z^2/6 -+ z sqrt(2/27 + z^2/36)) / (1 + z^2/3) with z = 1.95996.
    assert summary["interval"] == pytest.approx([0.061492, 0.792340], abs=1e-5)
    page = (project / "results/mutation/text.md").read_text(encoding="utf-8")
    assert "1 of 3 mutants killed: 33% (6% to 79%); 1 more do not build, 1 are equivalent" in page
    assert "src/text/a.cpp:2\n```diff\n-two = 2\n+two = 3\n```" in page and "one = 2" not in page
    status = subprocess.run(["git", "-C", project, "status", "--porcelain"], capture_output=True, text=True, check=True)
    assert status.stdout == "" and not (project / "build/library").exists(), "the work tree is only read"
    assert (project / "build/mutation/tree/src/text/a.cpp").read_text(encoding="utf-8") == FILES["src/text/a.cpp"]


def test_python_needs_no_run_for_what_means_the_same_and_syntax(project):
    assert mutate(project, "src/python").returncode == 0
    _, found = results(project, "python")
    assert found == {"three = 3  # as before": "equivalent", "three = (": "does not build"}
    assert mutants.same_program('"""one"""\nx = 1\n', '"""two"""\nx = 1\n')
    assert mutants.same_program("def f():\n    return 1\n", "def f():\n    return (1)\n")
    assert not mutants.same_program("def f():\n    return 1\n", "def f():\n    return 2\n")
    assert not mutants.same_program("x = 'a'\n", "x = 'b'\n"), "a name is no sentence"
    assert mutants.same_program('"""one"""\nx = 1\n', "pass\nx = 1\n")
    assert mutants.same_program('HELP = """one\n-- two"""\n', 'HELP = """one\n++ two 2"""\n'), "a sentence of two lines"
    assert mutants.same_program("x = f'at {a + b} of all'\n", "x = f'not at {a + b} of'\n")
    assert not mutants.same_program("x = f'at {a + b} of all'\n", "x = f'at {a - b} of all'\n")
    assert not mutants.same_program("x = f'{a}s'\n", "x = f'{a}t'\n")
    with pytest.raises(SyntaxError):
        mutants.same_program("x = 1\n", "x = 1\ncontinue;\n")


def test_a_change_of_a_header_that_changes_no_object_is_equivalent(project):
    (project / "src/headers").mkdir()
    (project / "src/headers/a.hpp").write_text("two = 2\nthree = 3\n", encoding="utf-8")
    (project / "build.sh").write_text("mkdir -p build && grep two src/headers/a.hpp >build/a.o\n", encoding="utf-8")
    (project / "table.toml").write_text(TABLE + """
[headers]
path = "src/headers"
stages = [{ targets = ["text"], run = "true" }]
""", encoding="utf-8")
    assert mutate(project, "headers").returncode == 0
    assert results(project, "headers")[1] == {"two = 3": "survived", "three = (": "equivalent", "three = 3  # as before": "equivalent"}


def test_programs_of_mutants_do_not_depend_on_the_commit(project):
    (project / "build.sh").write_text("mkdir -p build && touch build/library; git rev-parse HEAD >build/commit || true\n",
                                      encoding="utf-8")
    (project / "first.sh").write_text("git rev-parse HEAD >build/tested\n", encoding="utf-8")
    assert mutate(project, "text", "--sample", "1").returncode == 0
    built = project / "build/mutation/tree/build"
    assert (built / "commit").read_text(encoding="utf-8") == "" != (built / "tested").read_text(encoding="utf-8")


def test_a_sample_is_the_beginning_of_the_seeds_order(project):
    folder = folders.read(project / "table.toml")["text"]
    everything = mutants.of_folder(project, folder)
    assert len(everything) == 5 and {one.file for one in everything} == {"src/text/a.cpp"}
    orders = {tuple(mutants.ordered(everything, seed)) for seed in range(20)}
    assert len(orders) > 10 and mutants.ordered(everything, 1) == mutants.ordered(everything[::-1], 1)
    for sample in (1, 2):
        assert mutate(project, "text", "--sample", str(sample)).returncode == 0
        summary, found = results(project)
        assert summary["killed"] + summary["survived"] == sample, "the larger sample goes on where the smaller ended"
        first = mutants.ordered(everything, 1)[:len(found)]
        assert list(found) == [one.after.strip() for one in first]
    refused = mutate(project, "text", "--sample", "0")
    assert refused.returncode == 2 and "'0' is not a count" in refused.stderr


def test_a_quick_score_is_a_lower_bound_that_all_tests_raise(project):
    (project / "second.sh").write_text("grep -q 'two = 2' build/library\n", encoding="utf-8")
    assert mutate(project, "text", "--quick").returncode == 0
    assert results(project)[0]["survived"] == 2
    assert "- `sh first.sh`" in (project / "results/mutation/text.md").read_text(encoding="utf-8")
    assert mutate(project, "text").returncode == 0
    summary, found = results(project)
    assert found["two = 3"] == "killed" and (summary["killed"], summary["survived"]) == (2, 1)


def test_survivors_are_tried_again_and_nothing_else(project):
    assert mutate(project, "text").returncode == 0
    (project / "second.sh").write_text("grep -q 'two = 2' build/library\n", encoding="utf-8")
    log = project / "build/mutation/tree/build/log"
    before = len(log.read_text(encoding="utf-8").splitlines())
    assert mutate(project, "text", "--survivors").returncode == 0
    assert len(log.read_text(encoding="utf-8").splitlines()) == before + 3, "without a mutant, and two survivors"
    summary, found = results(project)
    assert found["two = 3"] == "killed" and summary["killed"] == 2 and summary["survived"] == 1
    (project / "src/text/a.cpp").rename(project / "src/text/b.cpp")
    refused = mutate(project, "text", "--survivors")
    assert refused.returncode == 2 and "is of other sources" in refused.stderr


def test_the_copy_follows_the_work_tree(project):
    with tree.copied(project) as copy:
        built = copy / "build/a.o"
        built.parent.mkdir()
        built.touch()
        before = (copy / "build.sh").stat().st_mtime_ns
    (project / "src/text/a.cpp").rename(project / "src/text/b.cpp")
    (project / "first.sh").write_text("false\n", encoding="utf-8")
    (project / "build/ignored").touch()
    with tree.copied(project) as copy:
        assert built.exists() and (copy / "build.sh").stat().st_mtime_ns == before, "nothing is built anew without need"
        assert sorted(path.name for path in (copy / "src/text").iterdir()) == ["b.cpp", "notes.md"]
        assert (copy / "first.sh").read_text(encoding="utf-8") == "false\n" and not (copy / "build/ignored").exists()


def test_tests_that_fail_without_a_mutant_say_so(project):
    (project / "first.sh").write_text("echo told you; exit 1\n", encoding="utf-8")
    done = mutate(project, "text")
    assert done.returncode == 2 and "fail without a mutant: sh first.sh: told you" in done.stderr and done.stderr.count("\n") == 1
    (project / "build.sh").write_text("exit 1\n", encoding="utf-8")
    assert "does not build without a mutant: it said nothing" in mutate(project, "text").stderr
    assert "there is no folder 'x'; allowed: text, python" in mutate(project, "x").stderr
    assert not list((project / "results/mutation").iterdir())


def test_an_interrupted_run_looks_unfinished_and_goes_on(project, tmp_path):
    mark = tmp_path / "mark"
    waits = f"grep -q 'two = 2' build/library || {{ [ -e '{mark}' ] && exit 1; echo $$ >'{mark}'; exec sleep 60; }}\n"
    (project / "second.sh").write_text(waits, encoding="utf-8")
    tool_process.interrupt(TOOL, words(project, "text"), signal.SIGTERM, mark, tmp_path, printed=True)
    folder = project / "results/mutation"
    assert not (folder / "text.json").exists() and not (folder / "text.md").exists()
    assert (project / "build/mutation/tree/src/text/a.cpp").read_text(encoding="utf-8") == FILES["src/text/a.cpp"]
    done = mutate(project, "text")
    assert done.returncode == 0, done.stderr
    assert len(results(project)[1]) == 5 and not (folder / "text.part.json").exists()


def test_time_limits_kill_and_only_one_run_uses_the_copy(project):
    folder = folders.read(project / "table.toml")["text"]
    [mutant] = [one for one in mutants.of_folder(project, folder) if "two" in one.after]
    (project / "second.sh").write_text("grep -q 'two = 2' build/library || sleep 60\n", encoding="utf-8")
    with tree.copied(project) as copy:
        bench = trial.prepare(copy, folder, 0, lambda said: None)
        assert bench.limits == [60, 60]
        low, high = trial.prepare(copy, folder, 1e6, lambda said: None).limits
        assert low > 1000 and high > 1000, "a million times some milliseconds"
        bench.limits = [60, 0.2]
        assert trial.judge(bench, mutant) == (trial.KILLED, "stage 2: time limit")
        assert "another ./run mutate is using" in mutate(project, "text").stderr


@pytest.mark.parametrize("before, after, left_out", [
    ("vector<int> x;", "vector>int> x;", True), ("a < b", "a > b", False), ("a < b", "a <= b", False), ("a <= b", "a < b", False),
    ("vector<int> x;", "vector<=int> x;", True), ("const T& x", "const T| x", True), ("a & b", "a | b", False),
    ("a * b", "a + b", False), ("float* p", "float+ p", True), ("-x", "x", False), ("fp32", "fp33", True), ("f(32)", "f(0)", False),
    ("x = 0.5", "x = 0.6", False), ("out << x", "out > x", True), ("if (a)", "if (!a)", False),
    ("a = 1;\n", "a = 1;\nbreak;\n", True)])
def test_what_never_builds_is_left_out(before, after, left_out):
    assert mutants._pointless(before, after) == left_out


@pytest.mark.parametrize("before, after, left_out", [
    ('  help="give --lr a number",', '  help="give +-lr a number",', True),  # a sentence
    ('  f("of --steps {}", a + b);', '  f("of -*steps {}", a + b);', True),
    ('  f("of --steps {}", a + b);', '  f("of --steps {}", a - b);', False),
    ('  say(f"at {a + b} of all")', '  say(f"at {a - b} of all")', False),  # code within a sentence
    ('  get("tracer", 1)', '  get("", 1)', False),  # a name
    ('  add("--lr", x)', '  add("-+lr", x)', False),
    ('  x = a + b', '  x = a - b', False)])
def test_words_of_sentences_are_left_out(before, after, left_out):
    assert mutants._only_words(before, after) == left_out


def test_scores_by_hand():
    def outcomes(**counts):
        names = {"killed": trial.KILLED, "survived": trial.SURVIVED, "broken": trial.UNBUILDABLE, "same": trial.EQUIVALENT}
        return {mutants.Mutant("f", number, "", kind): (names[kind], "")
                for kind, count in counts.items() for number in range(count)}
    assert record.summarise(outcomes(killed=17, survived=3, broken=9, same=4))["score"] == 0.85
    assert record.sentence(record.summarise(outcomes(broken=1))) == "no mutant builds and differs; 1 more do not build, 0 are equivalent"
