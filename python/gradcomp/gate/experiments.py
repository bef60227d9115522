"""Experiments on the gate: real comparisons with known answers, and simulated ones."""
import contextlib
import os
import re
import statistics
import subprocess
import sys
import types

import numpy as np

from gradcomp.errors import ToolError
from gradcomp.json_files import read_json
from gradcomp.output.text import percent
from gradcomp.places import words_of

from . import decide

ENVIRONMENT = {"OMP_NUM_THREADS": "1"}  # threads that wait for each other on a loaded machine would measure the scheduler
NOISES, CASES, SLOWER, QUIET = (0.01, 0.03, 0.05, 0.08, 0.1, 0.12, 0.15, 0.2), 20, 1.15, 0.05


BUSY = """import os
parent = os.getppid()
while os.getppid() == parent:  # ends with the experiments, however those end
    sum(range(100000))
"""


@contextlib.contextmanager
def load(count):
    """Runs `count` processes that compute as long as the block lasts."""
    running = []
    try:
        for _ in range(count):
            running.append(subprocess.Popen([sys.executable, "-c", BUSY]))
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def spread(document, case):
    """Largest bound of the A/A spread among the judged cases of a comparison whose names match `case`. Throws ToolError if
    there are none."""
    return max(one["spread_bound"] for one in judged(document, case))


def measured(document, case):
    """Median of new time / old time over the same cases."""
    return statistics.median(one["ratio"] for one in judged(document, case))


def judged(document, case):
    """The judged cases of a comparison whose names match `case`, at least one."""
    found = [one for one in document["cases"] if one["spread_bound"] is not None and re.search(case, one["name"])]
    if not found:
        raise ToolError(f"no case with times that can be judged matches --case '{case}'")
    return found


def compare(program, other, processes, arguments, seed, folder):
    """(exit status, JSON document) of one interleaved comparison. Throws ToolError unless it came to a verdict."""
    output = folder / "comparison.json"
    words = [*words_of("gradcomp.gate"), "--interleave", program, other, "--processes", processes, "--seed", seed, "--json",
             output, f"--bench-args={arguments}"]
    done = subprocess.run(list(map(str, words)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          check=False, env=os.environ | ENVIRONMENT)
    if done.returncode not in (0, 1, 3):
        said = done.stderr.strip().splitlines()[-1:] or [f"status {done.returncode}"]
        raise ToolError(said[0].removeprefix("gradcomp-compare: error: "))
    return done.returncode, read_json(output)


def _judged(numbers, noise, factor, rules):
    """Judges one of CASES cases: with Holm's correction for the smallest p of so many."""
    before, after = (list(scale * np.exp(noise * numbers.standard_normal(count)))
                     for scale, count in ((1, 2 * rules.minimum), (factor, rules.minimum)))
    halves = range(0, len(before), 2), range(1, len(before), 2)
    baseline = types.SimpleNamespace(times=lambda *_: before, halves=halves)
    new = types.SimpleNamespace(times=lambda *_: after)
    result = decide.measure(baseline, new, "simulated", False, rules)
    for column in ("p", "p_faster", "p_control"):
        setattr(result, column, min(1.0, CASES * getattr(result, column)))
    result.verdict = decide.judge(result, rules)[0]
    return result


def power(trials, noises, seed=1):
    """(header, rows): share of each verdict without a slow-down and with the slow-down SLOWER, a line per noise."""
    numbers, rules = np.random.default_rng(seed), decide.Rules(resamples=200)
    rows = []
    for noise in noises:
        same, slower = ([_judged(numbers, noise, factor, rules) for _ in range(trials)] for factor in (1, SLOWER))
        missed = [one.verdict != decide.REGRESSION and one.spread_bound < QUIET for one in slower]
        shares = [[one.verdict == verdict for one in arm]
                  for arm in (same, slower) for verdict in (decide.OK, decide.REGRESSION)]
        rows.append([percent(noise), *(percent(sum(share) / trials) for share in [*shares, missed])])
    return ["noise", "unchanged: ok", "unchanged: REGRESSION", "slower: ok", "slower: REGRESSION",
            "quiet by its bound, not called"], rows
