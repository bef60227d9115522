"""If one rank of a job stops, or has other options than the others, the job prints one message and ends."""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import pytest

from test_schema import BIN

pytestmark = pytest.mark.skipif(not BIN or not shutil.which("mpirun"), reason="GRADCOMP_BIN or mpirun is missing")
TRAIN = ["gradcomp-train", "--model", "resnet8", "--data", "shapetex10:train=64:test=32", "--batch", "4", "--steps", "100000",
         "--block", "100", "--evaluate-every", "100", "--no-controls"]
REDUCE = ["gradcomp-allreduce", "--sizes", "1024", "--repetitions", "1000000"]


def start(tmp_path, words, own="", ranks=2):
    """A job whose ranks write their process ids to tmp_path. `own`: arguments for a shell that each rank adds."""
    script = f'echo $$ > "{tmp_path}/$OMPI_COMM_WORLD_RANK.part"; ' \
             f'mv "{tmp_path}/$OMPI_COMM_WORLD_RANK.part" "{tmp_path}/$OMPI_COMM_WORLD_RANK.pid"; exec "$@" {own}'
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OMP_PROC_BIND": "false", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                                "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
                                "PRTE_MCA_rmaps_default_mapping_policy": ":OVERSUBSCRIBE"}
    program = str(pathlib.Path(BIN).resolve() / words[0])
    return subprocess.Popen(["mpirun", "-n", str(ranks), "sh", "-c", script, "sh", program, *words[1:]], env=environment,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def said(output, program):
    """What the program itself prints. Words of the launcher may be on the same line."""
    return re.findall(rf"{program}: error: [^\n]*", output)


@pytest.mark.parametrize("words, own", [
    (TRAIN, "--lr 0.$((1 + OMPI_COMM_WORLD_RANK))"),
    (TRAIN, "--methods fp32:strategy=servers:strategy.bound=$OMPI_COMM_WORLD_RANK"), (REDUCE, "--untimed $OMPI_COMM_WORLD_RANK")])
def test_ranks_with_other_options_end_with_one_line(tmp_path, words, own):
    process = start(tmp_path, words, own)
    output, _ = process.communicate(timeout=60)
    lines = said(output, words[0])
    assert process.returncode != 0 and len(lines) == 1, output
    assert "ranks disagree on the options: " in lines[0] and "rank 1 has" in lines[0]


def test_a_configuration_that_one_rank_lacks_ends_the_job_with_one_line(tmp_path):
    (tmp_path / "0.toml").write_text("steps = 4\n")
    process = start(tmp_path, ["gradcomp-train"], f'--config "{tmp_path}/$OMPI_COMM_WORLD_RANK.toml"')
    try:
        output, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    lines = said(output, "gradcomp-train")
    assert process.returncode != 0 and len(lines) == 1, output
    assert lines[0].startswith("gradcomp-train: error: on rank 1: ") and "1.toml" in lines[0]


@pytest.mark.parametrize("words", [
    [*TRAIN, "--methods", "fp32"], [*TRAIN, "--methods", "fp32:reducer=ring:strategy=priority"],
    [*TRAIN, "--methods", "fp32:strategy=servers:strategy.mode=async"], [*TRAIN, "--methods", "fp32:strategy=local:strategy.period=4"],
    [*REDUCE, "--methods", "fp32"], [*REDUCE, "--methods", "fp32:reducer=ring"]])
def test_a_rank_that_stops_ends_the_job_within_the_limit(tmp_path, words):
    process = start(tmp_path, [*words, "--timeout", "4"])
    try:
        pids = [tmp_path / f"{rank}.pid" for rank in range(2)]
        end = time.monotonic() + 30
        while not all(pid.exists() for pid in pids) and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(8)  # now it is at work, even on a busy machine
        assert process.poll() is None, f"status {process.returncode}: {process.communicate()[0]}"
        os.kill(int(pids[1].read_text()), signal.SIGSTOP)
        output, _ = process.communicate(timeout=60)
    finally:
        process.kill()
        for pid in pids:
            with contextlib.suppress(OSError, ValueError):  # the process has ended, as it should
                os.kill(int(pid.read_text()), signal.SIGKILL)
    # In order to end the stopped rank, the launcher wakes it, and this rank may then say that it has waited too long.
    lines = [line for line in said(output, words[0]) if ": on rank 1: " not in line]
    assert process.returncode != 0 and len(lines) == 1, output
    assert lines[0].startswith(f"{words[0]}: error: on rank 0: ") and " within 4 s; a peer is gone or hangs" in lines[0]


@pytest.mark.parametrize("program", ["gradcomp-train", "gradcomp-allreduce"])
def test_a_rank_whose_launcher_is_gone_starts_no_job_of_its_own(tmp_path, program):
    (tmp_path / "out.json").write_text("an earlier result", encoding="utf-8")
    done = subprocess.run([str(pathlib.Path(BIN).resolve() / program), "--output", str(tmp_path / "out.json")], capture_output=True,
                          text=True, check=False, timeout=60, env=os.environ | {"OMP_NUM_THREADS": "1", "OMPI_COMM_WORLD_SIZE": "2"})
    assert done.returncode == 1, done.stderr
    assert f"{program}: error: the launcher started 2 ranks, but MPI knows 1" in done.stderr and done.stderr.count("\n") == 1
    assert (tmp_path / "out.json").read_text(encoding="utf-8") == "an earlier result"
