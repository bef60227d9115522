"""tools/mercury_page: its tables from fabricated records with numbers that are computed by hand, and its quick version."""
import math
import pathlib
import types

import numpy as np
import pytest

import tool_process
from gradcomp.links import cli
from test_schema import BIN

pytest.importorskip("matplotlib")
import page_files
from gradcomp.pages import frame, mercury, mercury_links, mercury_losses, mercury_samplers

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "mercury_page"
DASH, TIMES = "\N{EN DASH}", "\N{MULTIPLICATION SIGN}"


def record(*rows):
    return types.SimpleNamespace(rows=list(rows))


def seed(label, time, exposed=0.0, importance=None, slices=None, number=1, steps=None, seconds=None):
    found = {"seed": number, "steps_to_target": steps, "time_to_target_s": seconds, "label": label, "run_type": "iteration",
             "step_time_ms": {"mean": time}, "metric": "accuracy", "batch_per_rank": 16,
             "stages_ms": {"exposed": exposed} | ({} if importance is None else {"importance": importance})}
    return found if slices is None else found | {"slices_per_step": slices, "sampler": "mercury:slices=0:slice=32:every=1"}


def over(label, steps=None, low=None, high=None, seconds=None, reached=2):
    interval = steps and {"mean": steps, "low": low, "high": high}
    return {"label": label, "run_type": "aggregate", "seeds_at_target": reached, "steps_to_target_over_seeds": interval,
            "time_to_target_s_over_seeds": seconds and {"mean": seconds, "low": seconds, "high": seconds},
            "test_quality_over_seeds": {"mean": 0.9, "low": 0.88, "high": 0.92}}


def test_places_of_losses_and_how_they_move():
    assert mercury_losses.ranks_of(np.array([3.0, 1.0, 2.0])).tolist() == [1.0, 0.0, 0.5]
    now, later = np.array([1.0, 2.0, 3.0, 4.0, 90.0]), np.array([90.0, 2.0, 3.0, 4.0, 1.0])
    found = mercury_losses.row(7, now, {1: now, 10: later})
    assert found["step"] == 7 and found["samples"] == 5 and found["mean"] == 20.0
    assert found["share_of_top_tenth"] == 0.9, "one of five samples is the top tenth, at least one"
    assert found["moved_1"] == [0.0, 0.0] and found["correlation_1"] == pytest.approx(1)
    assert found["moved_10"][0] == 0.0 and found["moved_10"][1] == 1.0, "two of five swap the ends"
    assert found["correlation_10"] == pytest.approx(-0.6)  # 1 - (2 + 2 x ... ) by hand: covariance -0.075 over variance 0.125


def of_seeds(label, *steps):
    return [seed(label, 1, number=number, steps=one) for number, one in enumerate(steps, 1)]


def test_steps_saved_are_told_seed_by_seed():
    uniform, mine = of_seeds("fp32", 400, 300, 500), of_seeds("m", 390, 280, 470)
    # The gains 10, 20, 30 have mean 20 and deviation 10. With Student's 4.303 for 2 degrees of freedom, half of the width is
    # 4.303 x 10 / sqrt(3) = 24.8. If two samplers are compared, the quantile is 6.205 and half of the width 35.8.
    assert mercury_samplers.saved(mercury_samplers.gains(mine, uniform)) == "20 (-5 to 45)"
    assert mercury_samplers.saved(mercury_samplers.gains(mine, uniform, 2)) == "20 (-16 to 56)"
    mine[1]["steps_to_target"] = None
    assert mercury_samplers.gains(mine, uniform) is None and mercury_samplers.gains(mine[:1], uniform[:1]) is None
    assert mercury_samplers.saved(None) == DASH == mercury_samplers.fewer(None)


def test_the_interval_of_the_steps_saved_decides():
    uniform = of_seeds("fp32", 400, 300, 500)  # the seeds differ more than the samplers

    def verdict(*steps, compared=1):
        return mercury_samplers.fewer(mercury_samplers.gains(of_seeds("m", *steps), uniform, compared))
    assert verdict(350, 245, 455) == "fewer" and verdict(450, 355, 545) == "more"
    assert verdict(390, 280, 470) == "not told apart" == verdict(400, 300, 500)
    # The gains 50, 60, 70 have half a width of 24.8 alone, and of 99.7 among 15 samplers, where the quantile is 17.3.
    assert verdict(350, 240, 430) == "fewer" and verdict(350, 240, 430, compared=15) == "not told apart"


def test_a_line_of_samplers():
    header, lines = mercury_samplers.table(record(
        seed("fp32", 10, number=1, steps=390), seed("fp32", 12, number=2, steps=410), seed("m", 20, slices=2, number=1, steps=290),
        seed("m", 22, slices=4, number=2, steps=310), over("fp32", 400, 380, 420, 4.0),
        over("m", 300, 290, 310, 6.0)))
    assert header[1] == "losses computed per trained sample"
    assert lines[0] == ["`fp32`", "0", "2 of 2", "400 (380 to 420)", "", "", "90.0 % (88.0 % to 92.0 %)"]
    assert lines[1][1] == "6.00", "3 slices of 32 for a batch of 16"
    assert lines[1][4:6] == ["fewer", "100 (100 to 100)"], "the seeds are pairs: what differs between seeds does not count"


def test_a_line_of_methods_over_a_link():
    """The steps 10 and 10.4 have half a difference of 0.2, so with Student's 12.706 for 1 degree of freedom half of the width is 2.5412.
    The waits 4 and 4.2 have half of it, and one seed alone has none."""
    header, lines = mercury_links.table(record(
        seed("fp32", 10, 4.0, number=1, steps=390), seed("fp32", 10.4, 4.2, number=2, steps=410),
        seed("m", 20, 0.5, slices=2, steps=290), over("fp32", 400, 380, 420, 4.0), over("m", 290, 280, 300, 6.0, 1)))
    assert header[1:3] == ["step, ms", "waits for the exchange, ms"]
    assert lines[0][:5] == ["`fp32`", "10.2 (7.66 to 12.7)", "4.10 (2.83 to 5.37)", DASH, "2 of 2"]
    assert lines[1][:5] == ["`m`", "20.0", "0.500", "2.00", "1 of 1"]


def test_samplers_that_diverged_say_so():
    rows = (*of_seeds("fp32", 400, 300), *of_seeds("m", 390, None), over("fp32", 350, 340, 360), over("m", reached=1))
    rows[3]["diverged_at_step"] = 9
    for module in (mercury_samplers, mercury_links):
        assert [line[-1] for line in module.table(record(*rows))[1]] == ["90.0 % (88.0 % to 92.0 %)", "diverged with 1 of 2 seeds"]


def test_the_model_hides_importance_behind_the_wait():
    uniform = [seed("fp32", 100, exposed=60)]
    assert mercury_links.prediction(uniform, [seed("m", 105, importance=50)]) == ([100], 1)
    assert mercury_links.prediction(uniform, [seed("m", 130, importance=90)]) == ([130], pytest.approx(100 / 130))
    two = [seed("fp32", 100, exposed=60), seed("fp32", 80, exposed=30)]
    assert mercury_links.prediction(two, [seed("m", 1, importance=50), seed("m", 1, importance=50)]) == ([100, 100], 0.9)


def test_a_gain_compares_seed_by_seed():
    """ln(400 / 200) twice: no spread; ln 2 and ln(400 / 190) differ from their mean by 0.025647, and the quantile is 12.706."""
    uniform = of_seeds("fp32", 400, 400)
    assert mercury_links.gain(uniform, of_seeds("m", 200, 200), "steps_to_target", 0.5) == f"1.00{TIMES} (1.00 to 1.00)"
    low, high = ((80 / 19) ** 0.5 * math.exp(end * 12.706 * 0.025647) for end in (-1, 1))
    assert mercury_links.gain(uniform, of_seeds("m", 200, 190), "steps_to_target") == f"2.05{TIMES} ({low:.2f} to {high:.2f})"
    assert mercury_links.gain(uniform, of_seeds("m", 200, 100), "steps_to_target") == "not measured well enough"
    assert mercury_links.gain(uniform, of_seeds("m", 200, None), "steps_to_target") == DASH
    assert mercury_links.gain(uniform, of_seeds("m", 200), "steps_to_target") == DASH


def test_predicted_and_measured_stand_side_by_side():
    label = "fp32:sampler=mercury"
    _, lines = mercury_links.model_table(record(
        seed("fp32", 100, 60, steps=400, seconds=40.0), seed(label, 125, 10, 50, 3, steps=200, seconds=25.0), seed("top_k", 40, 1),
        over("fp32", 400, 380, 420, 40.0), over(label, 200, 190, 210, 25.0), over("top_k")))
    assert lines == [[f"`{label}`", "50.0", "100", "125", "-20.0 %", f"2.00{TIMES}", f"1.60{TIMES}"]]
    _, lines = mercury_links.model_table(record(
        *(seed("fp32", 100, 60, number=number, steps=400, seconds=40.0) for number in (1, 2)),
        *(seed(label, step, 10, importance, 3, number=number, steps=200, seconds=25.0)
          for number, step, importance in ((1, 125, 62), (2, 125, 58))),
        over("fp32", 400, 380, 420, 40.0), over(label, 200, 190, 210, 25.0)))
    # Predicted: 102 and 100 with a deviation of sqrt(2), so half of the width is 12.706. Off: ln(102 / 100) / 2 = 0.0099 x 12.706.
    middle, half = (1.02 * 0.8 ** 2) ** 0.5, 12.706 * math.log(1.02) / 2
    assert lines[0][1:5] == ["60.0 (34.6 to 85.4)", "101 (88.3 to 114)", "125 (125 to 125)",
                             f"-19.2 % ({100 * (middle * math.exp(-half) - 1):.1f} % to {100 * (middle * math.exp(half) - 1):.1f} %)"]


def test_jobs_have_whole_blocks_and_names_of_their_own():
    options = types.SimpleNamespace(quick=False, only=None, folder=None)
    jobs = mercury.PAGE.jobs(options)
    assert [job.name for job in jobs] == mercury.PAGE.names(options) and len({job.name for job in jobs}) == len(jobs)
    for job in jobs:
        if "--block" in job.words:
            steps, block = (int(job.words[job.words.index(word) + 1]) for word in ("--steps", "--block"))
            assert steps % block == 0, job.name


def test_unknown_sections_are_refused():
    done = tool_process.call(lambda: frame.main(mercury.PAGE), TOOL, "--only", "nonsense")
    tool_process.refused(TOOL, done, "--only", "'nonsense'")


@pytest.mark.skipif(not BIN or bool(cli.why_not()), reason=f"no shaped links on this machine: {cli.why_not() or 'GRADCOMP_BIN'}")
def test_quick_page(tmp_path):
    page, _ = page_files.quick(TOOL, tmp_path)
    text = page if isinstance(page, str) else page.read_text(encoding="utf-8")
    for heading in ("## How importance is spread, and how it moves", "## Images", "## Links of 100 Mbit/s",
                    "## The speed-up model at 100 Mbit/s"):
        assert heading in text
