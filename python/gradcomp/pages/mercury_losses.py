"""The first section of docs/results/mercury.md: how importance is spread over samples, and how fast the order of samples
changes."""
import dataclasses
import tempfile

import numpy as np

from gradcomp.output import text

from .commands import command
from .page import Job, write_rows
from .ranks import TINY, memory

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
LAGS = (1, 10)  # distances in steps, over which the order of samples is compared


@dataclasses.dataclass(frozen=True)
class Input:
    """A kind of input, the options of its training, and the steps at which all losses are computed."""

    kind: str
    options: tuple
    at: tuple


EASY = "shapetex10:easy=0.8:train=4000:validation=400:test=1000"
FULL = (Input("images", ("--model", "resnet8", "--data", EASY, "--batch", 16, "--lr", 0.05), (20, 100, 300)),
        Input("speech", ("--model", "frames_lstm_1x64", "--data", "keywords:train=4000:test=500", "--batch", 16, "--lr", 0.2,
               "--clip", 1), (20, 100, 300)),
        Input("text", ("--model", "lstm_1x96", "--data", "hmm", "--batch", 16, "--lr", 1, "--momentum", 0, "--clip", 0.25),
              (20, 100, 300)))
QUICK = (Input("images", ("--model", "resnet8", *TINY), (1, 2)),)


def _name(given):
    return f"losses_{given.kind}"


def ranks_of(values):
    """The place of each value in ascending order, from 0 for the smallest to 1 for the largest."""
    places = np.empty(len(values))
    places[np.argsort(values, kind="stable")] = np.arange(len(values))
    return places / max(1, len(values) - 1)


def row(step, now, later):
    """The cells on the losses `now` at `step`; `later`: {lag: losses of the same samples}."""
    shares = np.sort(now)[::-1]
    found = {"name": f"losses/step{step}", "run_name": f"losses/step{step}", "run_type": "iteration", "repetitions": 1,
             "step": step, "samples": len(now), "mean": float(now.mean()),
             "quantiles": [float(value) for value in np.quantile(now, QUANTILES)],
             "share_of_top_tenth": float(shares[:max(1, len(now) // 10)].sum() / shares.sum())}
    for lag, values in later.items():
        moved = np.abs(ranks_of(values) - ranks_of(now))
        found[f"moved_{lag}"] = [float(value) for value in np.quantile(moved, (0.5, 0.95))]
        found[f"correlation_{lag}"] = float(np.corrcoef(ranks_of(values), ranks_of(now))[0, 1])
    return found


def _words(given):
    steps = sorted({step + lag for step in given.at for lag in (0, *LAGS)})
    return (*memory(1), "gradcomp-train", *given.options, "--decay", "constant", "--steps", steps[-1] + 1, "--evaluate-every",
            steps[-1] + 1, "--methods", "fp32", "--no-controls", "--at", ",".join(map(str, steps)))


def _make(given):
    def make(output, built):
        with tempfile.TemporaryDirectory() as folder:
            command(*_words(given), "--dump-importance", folder)
            losses = {step: np.load(f"{folder}/fp32_step{step}_losses.npy").astype(float)
                      for step in sorted({step + lag for step in given.at for lag in (0, *LAGS)})}
        write_rows(output, built, [row(step, losses[step], {lag: losses[step + lag] for lag in LAGS}) for step in given.at])
    return make


def jobs(options):
    """The jobs: a training of each kind of input that writes the losses of all samples."""
    return [Job(_name(given), (*_words(given), "--dump-importance", "FOLDER"), f"losses of {given.kind}", make=_make(given))
            for given in (QUICK if options.quick else FULL)]


def table(records):
    """A line for each input and step."""
    lines = []
    for kind, record in records.items():
        for found in record.rows:
            low, _, median, _, high = found["quantiles"]
            lines.append([kind, f"{found['step']}", text.number(found["mean"]), text.number(median),
                          f"{text.number(low)} to {text.number(high)}", text.percent(found["share_of_top_tenth"]),
                          *(f"{text.percent(found[f'moved_{lag}'][0])}, {text.percent(found[f'moved_{lag}'][1])}" for lag in LAGS),
                          *(text.number(found[f"correlation_{lag}"]) for lag in LAGS)])
    return ["input", "step", "mean loss", "median", "5 % to 95 %", "share of the top tenth",
            *(f"moved after {lag}: median, 95 %" for lag in LAGS), *(f"rank correlation after {lag}" for lag in LAGS)], lines


def write(out, records, quick):
    """Adds the table of the records that exist."""
    found = {given.kind: records[_name(given)] for given in (QUICK if quick else FULL) if _name(given) in records}
    if found:
        out.add("How importance is spread, and how it moves", "Losses of all training samples of one rank under the parameters of a "
                "step of plain training. *Share of the top tenth*: of the sum of all losses, that of the tenth with the largest. "
                "*Moved*: by how much the place of a sample in the order of losses changes within so many steps, as a part of all "
                "samples. If places moved far in one step, losses one update old would be worth little.", table(found))


