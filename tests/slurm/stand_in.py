#!/usr/bin/env python3
"""A stand-in for gradcomp-train and gradcomp-allreduce in the unit tests of slurm/, which need no build. It writes a
fabricated record. Before it, until there is a file STAND_IN_UNTIL, it writes checkpoints (unless STAND_IN_SAVES_NOTHING). If its options
contain STAND_IN_FAILS, it fails; if they contain STAND_IN_DIVERGES, a method diverges. It measures nothing. PYTHONPATH must
contain tests/harness."""
import json
import os
import pathlib
import sys
import time

import example_results

PROGRAM = pathlib.Path(sys.argv[0]).name
options = dict(zip(sys.argv[1::2], sys.argv[2::2], strict=False))
with open(os.environ["STAND_IN_LOG"], "a", encoding="utf-8") as log:
    log.write(json.dumps([PROGRAM, *sys.argv[1:]]) + "\n")

bad = os.environ.get("STAND_IN_FAILS")
if bad and bad in options["--methods"]:
    sys.exit(f"{PROGRAM}: error: {bad} fails, as the test wants")
if PROGRAM == "gradcomp-train":
    folder = pathlib.Path(options["--checkpoint"]) / "seed1"
    folder.mkdir(parents=True, exist_ok=True)
    until, end = os.environ.get("STAND_IN_UNTIL"), time.monotonic() + 300  # a test that fails leaves nothing behind
    while until and not os.path.exists(until) and time.monotonic() < end:
        if "STAND_IN_SAVES_NOTHING" not in os.environ:
            (folder / "checkpoint.json").write_text("{}", encoding="utf-8")
        time.sleep(0.05)
document = example_results.written() if PROGRAM == "gradcomp-train" else example_results.allreduce()
diverges = os.environ.get("STAND_IN_DIVERGES", "no method") in options["--methods"]
if diverges:
    example_results.diverge(document["benchmarks"][4], 12)
partial = pathlib.Path(options["--output"] + ".part")
partial.write_text(json.dumps(document), encoding="utf-8")
os.replace(partial, options["--output"])
sys.exit(3 if diverges else 0)
