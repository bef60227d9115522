"""Every measured figure of README.md and docs/worked-answer.md follows from the records of docs/results, with their rounding."""
import pathlib
import re

import pytest

pytest.importorskip("matplotlib")
from gradcomp.output import text
from gradcomp.pages import exchange_bars, exchange_scaling, ranks, training_verdicts
from gradcomp.report import verdicts
from gradcomp.results import records

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = " ".join(re.sub(r"```.*?```", "", "\n".join((ROOT / name).read_text(encoding="utf-8") for name in (
    "README.md", "docs/worked-answer.md")), flags=re.DOTALL).split())
TIMES = "\N{MULTIPLICATION SIGN}"
WORDS = {3: "three", 5: "five", 8: "eight"}
# Figures that are settings, not measurements: rates of links, widths of formats, the level of intervals.
SETTINGS = {"100 Mbit/s", "50 Mbit/s", "1 Gbit/s", "95 %"}


def kept(page, name):
    return records.read_kept(records.ALL / page / f"{name}.json")


class Bars:
    """A table over links of the page of exchange, as README quotes it."""

    def __init__(self, model, rate, ranks_of=2):
        self.record = kept("exchange", f"bars_{model}_{ranks_of}_{rate}mbit")
        self.rounds = next(over.rounds for case in exchange_bars.FULL for over in case.links
                           if (case.model, over.ranks, over.rate) == (model, ranks_of, rate))
        self.row = next(iter(self.record.rows))
        shares = exchange_bars.shares(self.record, self.rounds)
        self.dense = exchange_bars.best(shares, exchange_bars.dense_of(shares))
        self.verdicts, _ = exchange_bars.qualities(model, ranks_of)

    def time(self, label):
        return f"{text.number(self.mean(label))} ms"

    def mean(self, label):
        return ranks.rows_of(self.record)[label]["step_time_ms"]["mean"]

    def ratio(self, label):
        return exchange_bars.ratio(self.record, label, self.rounds, self.dense)

    def factor(self, label):
        middle, low, high = self.ratio(label)
        return f"{middle:.2f}{TIMES}, {low:.2f} to {high:.2f}"

    def cells(self, *labels):
        """What the table of README says of this link; every method must have the quality of fp32."""
        assert all(self.verdicts[label] == exchange_bars.SAME for label in labels)
        methods = ", ".join(f"`{label}` {self.time(label)} ({self.factor(label)})" for label in labels)
        return f"{self.time('no_exchange')} | `{self.dense}` {self.time(self.dense)} | {methods} |"


def percent(factor):
    return f"{100 * (factor - 1):.0f}"


def answer(bars, labels):
    """Does it pay? By the ends of the intervals of methods of which all are faster, or of which none can be told apart."""
    _, lows, highs = zip(*(bars.ratio(label) for label in labels), strict=True)
    if all(low > 2 for low in lows):
        return f"yes: {', '.join(f'`{label}`' for label in labels)}"
    if all(low > 1 for low in lows):
        return f"a little: {percent(lows[0])} to {percent(highs[0])} %"
    assert all(low <= 1 <= high for low, high in zip(lows, highs, strict=True))
    return f"open: at most {percent(max(highs))} %"


def table():
    """The rows of the table."""
    for model, name, labels in (("lstm_1x96", "LSTM", ("sign",)), ("resnet20", "ResNet-20", ("sign", "qsgd:bits=4"))):
        slow, fast = (Bars(model, rate) for rate in (100, 1000))
        yield (f"| {name}, {slow.row['parameters']:,} parameters, batch {slow.row['batch_per_rank']} per rank | 100 Mbit/s | "
               f"{slow.cells(*labels)} {answer(slow, labels)} |")
        yield f"| | 1 Gbit/s | {fast.cells(*labels)} {answer(fast, labels)} |"
        yield f"with 95 % intervals over {WORDS[slow.rounds]} blocks of steps"


def tolerances():
    """What may be lacking of the quality of fp32, with how many seeds."""
    shares = {name: 100 * kept("training", name).gradcomp["options"]["quality_tolerance"] for name in ("lstm", "resnet20")}
    yield f"at most {shares['lstm']:g} % more perplexity, on ResNet-20 at most {shares['resnet20']:g} points less accuracy"
    seeds = {name: WORDS[len(kept("training", name).gradcomp["seeds"])] for name in shares}
    yield f"{seeds['resnet20']} seeds for ResNet-20 and {seeds['lstm']} for the LSTM"


def gaps():
    """What ranks lack that never exchange, and that it is open whether methods keep more than half of it."""
    said = {}
    for count, name in ((2, "lstm"), (4, "lstm_4")):
        found = training_verdicts.trained(kept("training", name))
        said[count] = training_verdicts.behind(found["no_exchange"].total).removesuffix(" %").replace(" (", " % (")
        for label in ("top_k:ratio=0.01", "qsgd:bits=4"):
            assert found[label].quality() == verdicts.OPEN and training_verdicts.lack_of(found[label].total)[0] < 0.0005
    yield f"two ranks that never exchange are only {said[2]} worse than `fp32`"
    yield f"and four ranks {said[4]}."


def batches():
    """The share of the throughput that fp32 reaches with two batches."""
    _, steps, block, _ = exchange_scaling.FULL
    few, many = kept("exchange", "scaling_2_100mbit"), Bars("resnet20", 100)
    said = []
    for record, rounds in ((few, steps // block), (many.record, many.rounds)):
        said.append(text.measured(*exchange_bars.ratio(record, "fp32", rounds), show=text.percent))
    sizes = [record.rows[0]["batch_per_rank"] for record in (few, many.record)]
    yield f"With {sizes[0]} images per rank instead of {sizes[1]}, ResNet-20 computes less"
    yield f"`fp32` then reaches {said[0]} of the throughput without an exchange"
    yield f"With {sizes[1]} images and its best bucket size it reaches {said[1]}."


def more_ranks():
    """Four ranks on the LSTM."""
    four = Bars("lstm_1x96", 100, 4)
    assert four.verdicts["sign"] == verdicts.MISSED and four.verdicts["top_k:ratio=0.01"] == verdicts.OPEN
    link = ranks.asked(4, 100).removesuffix("mbit")
    yield (f"{four.time('top_k:ratio=0.01')} against {four.time(four.dense)} ({four.factor('top_k:ratio=0.01')}; these links have "
           f"{link} Mbit/s")


def links():
    """Break-even rates of the page of links and ranks."""
    found = {one.label.split(":lr=")[0]: one for one in verdicts.trained(kept("scale", "scale_8"))}
    assert found["qsgd:bits=4"].total["pays"]["where"] == "nowhere"

    def about(label):
        return f"{found[label].total['pays']['rate_mbit_s'] / 1000:.1g} Gbit/s"
    yield (f"With `reducer=two_phase` it then pays below about {about('qsgd:bits=4:reducer=two_phase')}, and `top_k:ratio=0.01` below "
           f"about {about('top_k:ratio=0.01')}.")


def size():
    """The larger LSTM, and the small one beside it."""
    large, small = Bars("lstm_2x200", 1000), Bars("lstm_1x96", 1000)
    assert not large.verdicts, "README says that its quality has not been measured"
    yield (f"For an LSTM of {large.row['parameters']:,} parameters at 1 Gbit/s, a step of the best dense method takes "
           f"{large.time(large.dense)}, and a step without an exchange {large.time('no_exchange')}.")
    yield f"the small LSTM ({small.time(small.dense)} and {small.time('no_exchange')})"


def over(total, key, show=text.number):
    return show(total[f"{key}_over_seeds"]["mean"])


def shared_memory():
    """The trainings of the LSTM in shared memory, and which compressors keep the quality of ResNet-20."""
    totals = {label: one.total for label, one in training_verdicts.trained(kept("training", "lstm")).items()}
    fp32, top_k, sign = (totals[label] for label in ("fp32", "top_k:ratio=0.01", "sign"))
    yield (f"`fp32` sends {over(fp32, 'wire_bytes_to_target', text.size)} and `top_k:ratio=0.01` sends "
           f"{over(top_k, 'wire_bytes_to_target', text.size)}.")
    seconds = {f"{total['time_to_target_s_over_seeds']['mean']:.1f}" for total in (fp32, top_k)}
    yield f"Both need about {' or '.join(seconds)} seconds"
    dense, bound = (totals[label]["step_time_ms_over_seeds"]["mean"] for label in ("fp32", "no_exchange"))
    yield f"costs {100 * (1 - bound / dense):.0f} % of the LSTM's step ({text.number(dense)} ms against {text.number(bound)} ms)"
    times = [training_verdicts.shown(None, total, "time_to_target_s", text.number).replace(" (", " s (", 1) for total in (sign, fp32)]
    yield f"sooner than `fp32`, {times[0]} against {times[1]}"
    images = verdicts.trained(kept("training", "resnet20"))
    assert {one.label.split(":lr=")[0] for one in images if one.compresses and one.matched} == {"sign", "qsgd:bits=4"}


def letters():
    """The trainings on letters."""
    found = [training_verdicts.trained(kept("letters", f"letters_{number}")) for number in (2, 4, 8)]
    lost = text.listed([training_verdicts.behind(methods["no_exchange"].total) for methods in found])
    yield f"2, 4 and 8 ranks that never exchange lose {lost} of accuracy"
    words = {label: [training_verdicts.short(methods[label]) for methods in found] for label, one in found[0].items() if one.compresses}
    kept_it, unknown = ([label for label, said in words.items() if set(said) == {word}] for word in ("kept", "open"))
    missed = [label for label, said in words.items() if said[1:] == ["missed", "missed"]]
    assert len(kept_it) == len(unknown) == 1 and len(missed) == len(words) - 2
    yield (f"`{kept_it[0]}` keeps the quality of `fp32` with each of them, for `{unknown[0]}` it is open, and the {WORDS[len(missed)]} "
           "other compressors miss it with 4 and 8 ranks")


QUOTES = (letters, table, tolerances, gaps, batches, more_ranks, links, size, shared_memory)


@pytest.mark.parametrize("quotes", QUOTES, ids=lambda quotes: quotes.__name__)
def test_readme_says_what_the_records_say(quotes):
    for said in quotes():
        assert said in README, said


def test_no_measured_figure_of_readme_is_left_out():
    left = README
    for said in sorted((said for quotes in QUOTES for said in quotes()), key=len, reverse=True):
        left = left.replace(said, "")
    units = rf"\d[\d,.]*\s?(?:{TIMES}|ms\b|s\b|seconds\b|[kMG]?B\b|%|points\b|images\b|[MG]bit/s)"
    assert {" ".join(found.split()) for found in re.findall(units, left)} <= SETTINGS
