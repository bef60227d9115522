"""Whole sweeps without Slurm, with stand_in.py in place of the programs: they are killed and resubmitted, fail, and meet a
full disk."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

from conftest import ROOT

HERE = pathlib.Path(__file__).resolve().parent
HARNESS = HERE.parent / "harness"
EXPERIMENT = """title = "A title"
time = "00:10:00"
[[sweep]]
model = "resnet8"
methods = ["top_k:ratio=0.01", "sign", "natural", "terngrad"]
"""


class Sweep:
    """A sweep under a launcher that starts one process."""

    def __init__(self, folder):
        self.base, self.path = folder, folder / "out"
        self.log = folder / "log"
        (folder / "bin").mkdir()
        for program in ("gradcomp-train", "gradcomp-allreduce"):
            (folder / "bin" / program).symlink_to(HERE / "stand_in.py")
        (folder / "site.env").write_text(
            f"SCHEDULER=none\nRANKS_PER_NODE=1\nBINDING=none\nWARN_SECONDS=4\nLAUNCHER=env\nPYTHON={sys.executable}\n"
            f"SETUP='export PATH=\"{folder}/bin:$PATH\" PYTHONPATH=\"{HARNESS}\" STAND_IN_LOG=\"{self.log}\"'\n", encoding="utf-8")
        (folder / "sweep.toml").write_text(EXPERIMENT, encoding="utf-8")

    def start(self, tool="submit", **variables):
        words = {"submit": [self.base / "site.env", self.base / "sweep.toml", "--output", self.path], "gather": [self.path]}
        return subprocess.Popen([ROOT / "slurm" / tool, *words[tool]], stdout=subprocess.PIPE, text=True,
                                stderr=subprocess.PIPE, env=os.environ | {"GRADCOMP_REPORT": "true"} | variables,
                                start_new_session=True)

    def run(self, tool="submit", **variables):
        process = self.start(tool, **variables)
        out, errors = process.communicate(timeout=300)
        return process.returncode, out, errors

    def commands(self):
        return [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()] if self.log.is_file() else []

    def records(self):
        return sorted(path.name for path in self.path.glob("records/*"))

    def until(self, condition):
        end = time.monotonic() + 300
        while not condition():
            assert time.monotonic() < end
            time.sleep(0.02)


@pytest.fixture(name="sweep")
def fixture_sweep(tmp_path):
    return Sweep(tmp_path)


def test_all_points_once_and_a_report(sweep):
    status, out, errors = sweep.run(GRADCOMP_REPORT="")  # the real tool, which the other tests do not run
    assert (status, errors) == (0, "") and "5 of 5 points" in out
    assert len(sweep.commands()) == 5 == len(sweep.records())
    report = sweep.path / "report"
    assert (report / "report.html").is_file()
    assert (report / "training.csv").read_text(encoding="utf-8").startswith("point,nodes,")
    page = (report / "sweep.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| resnet8")]
    assert len(rows) == 24 and all("not named: 1 GB/s bus bandwidth at 16.8 MB" in row for row in rows)
    assert next(row for row in rows if "| powersgd" in row).endswith("| no | - | - |"), "no speed-up beside missed quality"
    assert sweep.run()[0] == 0 and len(sweep.commands()) == 5, "finished points must not run again"


def test_names_of_files_may_have_spaces(sweep):
    for key, name in (("data", f"text:{sweep.base}/my book.txt"), ("rates", "my rates.json")):
        (sweep.base / "sweep.toml").write_text(EXPERIMENT + f'{key} = "{name}"\n', encoding="utf-8")
        sweep.path = sweep.base / key
        status, _, errors = sweep.run()
        assert status == 0, errors
        words = sweep.commands()[-1]
        assert words[words.index(f"--{key}") + 1].endswith(name)


def test_a_failing_point_is_named_and_the_others_are_kept(sweep):
    status, out, errors = sweep.run(STAND_IN_FAILS="natural")
    assert status == 1 and "4 of 5 points" in out and errors.count("missing:") == 1
    assert "failed: status 1: gradcomp-train: error: natural fails, as the test wants" in errors
    assert "Missing points" in (sweep.path / "report" / "sweep.md").read_text(encoding="utf-8")
    before = len(sweep.commands())
    assert sweep.run()[0] == 0 and len(sweep.commands()) == before + 1, "only the failing one runs again"
    assert "Missing" not in (sweep.path / "report" / "sweep.md").read_text(encoding="utf-8")


def test_a_point_in_which_a_method_diverged_is_finished(sweep):
    status, out, errors = sweep.run(GRADCOMP_REPORT="", STAND_IN_DIVERGES="natural")
    assert (status, errors) == (0, "") and "5 of 5 points" in out
    rows = [line for line in (sweep.path / "report" / "sweep.md").read_text(encoding="utf-8").splitlines() if "| top_k" in line]
    assert sum(row.endswith("| diverged at step 12 | no | - | - |") for row in rows) == 1, rows
    report = (sweep.path / "report" / "report.html").read_text(encoding="utf-8")
    assert report.count("diverged at step 12") >= 1
    assert sweep.run()[0] == 0 and len(sweep.commands()) == 5, "it is not run again"


def test_killed_half_way_and_resubmitted(sweep):
    process = sweep.start(STAND_IN_UNTIL=str(sweep.base / "go"))
    sweep.until(lambda: len(sweep.commands()) == 2 and list(sweep.path.glob("points/*/checkpoints/*/*")))
    os.killpg(process.pid, signal.SIGKILL)  # submit and run_point die at once, but the ranks live on
    process.communicate()
    done = sweep.records()
    assert len(done) == 1 and not list(sweep.path.glob("records/.*")) and not (sweep.path / "report").exists()
    status, _, errors = sweep.run()
    assert status == 1 and "started, but its job was killed or still runs" in errors, "the ranks held their point"
    assert len(sweep.commands()) == 5, "the point whose ranks live on is not started a second time beside them"
    (sweep.base / "go").touch()
    sweep.until(lambda: sweep.run()[0] == 0)
    assert len(sweep.records()) == 5
    commands = [words for words in sweep.commands() if words[0] == "gradcomp-train"]
    assert len(commands) == 4 and len({words[4] for words in commands}) == 4, "what its ranks wrote afterwards is its record"


def test_a_warned_job_waits_for_its_checkpoint_and_goes_on_later(sweep):
    process = sweep.start(STAND_IN_UNTIL="/no/such/file")
    sweep.until(lambda: list(sweep.path.glob("points/*/checkpoints/*/*")))
    process.send_signal(signal.SIGUSR1)
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 128 + signal.SIGUSR1 and "the same call continues the sweep" in out
    assert not list(sweep.path.glob("points/*/failed.txt"))
    assert sweep.run()[0] == 0 and sum("--resume" in words for words in sweep.commands()) == 1


def test_a_warned_job_that_saved_nothing_fails_instead_of_circling(sweep):
    process = sweep.start(STAND_IN_UNTIL="/no/such/file", STAND_IN_SAVES_NOTHING="1")
    sweep.until(lambda: len(sweep.commands()) == 2)
    process.send_signal(signal.SIGUSR1)
    process.communicate(timeout=300)
    status, _, errors = sweep.run("gather")
    assert status == 1 and "failed: reached the time limit without a checkpoint: it needs more time" in errors


@pytest.mark.parametrize("fails", ["", "top_k"])
def test_a_warning_before_the_program_runs_does_not_end_the_point(sweep, fails):
    """Slurm warns early or before preemption, perhaps during SETUP or while the ranks are mapped."""
    text = (sweep.base / "site.env").read_text(encoding="utf-8")
    wait = f'until [ -e "{sweep.base}/%s" ]; do sleep 0.1; done; '
    text = text.replace("LAUNCHER=env", f"LAUNCHER='{wait % 'launch'}env'")
    text = text.replace('$PATH" ', f'$PATH"; touch "{sweep.base}/setup"; {wait % "go"}export ')
    (sweep.base / "site.env").write_text(text, encoding="utf-8")
    process = sweep.start(STAND_IN_FAILS=fails)
    sweep.until(lambda: (sweep.base / "setup").exists())
    process.send_signal(signal.SIGUSR1)
    (sweep.base / "go").touch()
    (sweep.base / "launch").touch()
    process.communicate(timeout=300)
    assert sweep.records() and not list(sweep.path.glob("points/*/failed.txt")), "the preflight goes on"
    (sweep.base / "launch").unlink()
    process = sweep.start(STAND_IN_FAILS=fails)
    sweep.until(lambda: list(sweep.path.glob("points/resnet8*/history.jsonl")))
    process.send_signal(signal.SIGUSR1)
    (sweep.base / "launch").touch()
    process.communicate(timeout=300)
    said = [path.read_text(encoding="utf-8") for path in sweep.path.glob("points/*/failed.txt")]
    assert len(sweep.records()) == (1 if fails else 2), said
    assert len(said) == bool(fails) and all("gradcomp-train: error: top_k fails" in line for line in said), said


def test_another_plan_is_refused(sweep):
    assert sweep.run()[0] == 0
    (sweep.base / "sweep.toml").write_text(EXPERIMENT.replace("sign", "qsgd"), encoding="utf-8")
    status, _, errors = sweep.run()
    assert status == 2 and "holds another plan (it differs in points)" in errors and errors.count("\n") == 1


@pytest.mark.parametrize("content", ["{", "[]", '{"benchmarks": []}', "{}"])
def test_a_damaged_record_is_a_missing_point(sweep, content):
    assert sweep.run()[0] == 0
    path = next(sweep.path.glob("records/resnet8*"))
    path.write_text(content, encoding="utf-8")
    status, out, errors = sweep.run("gather")
    assert status == 1 and "4 of 5" in out and "its record is damaged" in errors and errors.count("\n") == 1, errors


def test_a_full_disk_at_gathering_leaves_the_old_report(sweep):
    """A limit on the size of files replaces the full disk; test_real_slurm.py fills a real one."""
    assert sweep.run()[0] == 0
    old = (sweep.path / "report" / "sweep.md").stat().st_mtime_ns
    words = f"trap '' XFSZ; ulimit -f 1; exec '{ROOT}/slurm/gather' '{sweep.path}'"
    done = subprocess.run(["bash", "-c", words], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr.startswith("gather: error: cannot write") and done.stderr.count("\n") == 1
    assert (sweep.path / "report" / "sweep.md").stat().st_mtime_ns == old
    assert not list(sweep.path.glob(".report*"))


def test_programs_that_are_not_there(sweep):
    (sweep.base / "bin" / "gradcomp-train").unlink()
    status, _, errors = sweep.run(PATH="/usr/bin:/bin")
    assert status == 1 and errors.count("gradcomp-train is not on PATH: SETUP of the system site") == 4
