"""The sweep of twelve points of test_real_slurm.py, and checks of it."""
import json
import os
import signal

from machine import GATHER, mentions

SHORT = """
model = "resnet8"
data = "shapetex10:train=64:test=32"
batch = 4
block = 2
"""
# A slow link makes these points long: a step of all methods takes half a second, whatever else the machine does.
LONG = SHORT + 'link = "10Mbit/s,1ms"\nevaluate_every = 1000\ncheckpoint_every = 2\n'
TWELVE = f"""
title = "Twelve points on two nodes"
time = "00:02:00"
preflight_sizes = "1024,65536"
[[sweep]] # 44 s: is there when Slurm, every 30 s, warns all jobs that have run for 10 s (see WARN_SECONDS)
{LONG}
nodes = 2
steps = 84
methods = "top_k:ratio=0.01"
[[sweep]] # long enough to be met half-way
{LONG}
nodes = 2
steps = 20
methods = ["qsgd:bits=4", "powersgd:rank=2", "sign"]
[[sweep]] # fails until its text is there
nodes = 2
model = "lstm_1x96"
data = "text:TEXT"
batch = 2
length = 8
steps = 4
methods = "top_k:ratio=0.05"
[[sweep]] # six short ones
{SHORT}
nodes = 2
steps = 4
methods = ["top_k:ratio=0.01", "sign", "qsgd:bits=4", "powersgd:rank=2", "random_k:ratio=0.1", "natural"]
"""
WARNED, REQUEUED, CANCELLED, KILLED, FAILING = 1, 2, 3, 4, 5  # numbers of points of TWELVE


def kill(text):
    """Kills the only process whose command line contains a text, as the kernel does without memory. False: there is none."""
    found = mentions(text)
    assert len(found) < 2, found
    for process in found:
        os.kill(int(process), signal.SIGKILL)
    return bool(found)


def check_dry_run(cluster, sweep):
    """--dry-run writes nothing, and Slurm accepts what it prints."""
    said = sweep.submit("--dry-run")
    assert not sweep.path.exists() and "sbatch --parsable --array=0-11%2 " in said
    script = sweep.base / "printed.sbatch"
    script.write_text(said[said.index("#!/bin/bash"):said.index("\n\nsbatch ")], encoding="utf-8")
    tested = cluster.run("sbatch", "--test-only", script)
    assert tested.returncode == 0 and "on nodes n[1-2] in partition debug" in tested.stderr, tested.stderr


def check_complete(sweep, before):
    """Checks that nothing ran twice and nothing is lost."""
    after = sweep.records()
    assert before.items() <= after.items() and len(after) == 12, "finished points were not run again"
    for index, point in enumerate(sweep.points()):
        starts = [line for line in sweep.history(index) if line["event"] == "start"]
        assert sweep.events(index).count("finished") == 1, sweep.history(index)
        assert all(line["resumed"] for line in starts[1:]) or index == FAILING, sweep.history(index)
        if WARNED <= index <= FAILING:
            assert len(starts) > 1, sweep.history(index)
        else:  # Slurm may warn any of them at any time
            assert len(starts) <= 1 + sweep.events(index).count("requeued"), sweep.history(index)
        rows = json.loads((sweep.path / "records" / f"{point['id']}.json").read_text(encoding="utf-8"))["benchmarks"]
        if point["program"] == "gradcomp-train":
            assert {"fp32", "fp16", "bf16", "no_exchange"} < {row["label"] for row in rows}, "controls are in every point"
            assert all(len(row["step_times_ms"]) <= row["steps"] == point["options"]["steps"] for row in rows)
    page = (sweep.path / "report" / "sweep.md").read_text(encoding="utf-8")
    assert page.count("virtual Ethernet: ") > 12 and "emulated 10Mbit/s,1ms over virtual" in page and "Missing" not in page


def check_full_disk(cluster, sweep, place):
    """Gathering on a full disk prints one line and leaves no report that looks complete. With free space, it works."""
    place.mkdir()
    assert cluster.run("mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", place).returncode == 0
    for part in ("plan.json", "records"):
        cluster.run("cp", "-r", sweep.path / part, place)
    cluster.run("bash", "-c", f"head -c 20m /dev/zero >{place}/filler")
    gather = ("env", "GRADCOMP_REPORT=true", GATHER, place)
    done = cluster.run(*gather)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "No space left" in done.stderr, done.stderr
    assert cluster.run("ls", "-A", place).stdout.split() == ["filler", "gather.lock", "plan.json", "records"]
    cluster.run("rm", place / "filler")
    assert cluster.run(*gather).returncode == 0
