"""docs/claims.md: what authors say of their methods beside what the records of all pages say, with a verdict on each."""
import dataclasses
import functools
import math
from collections.abc import Callable

from gradcomp.output import markdown, text
from gradcomp.report import verdicts
from gradcomp.results.records import ALL, read_kept

from . import training_bars, training_verdicts
from .intervals import ratio_of
from .mercury_samplers import GROUPED, seed_by_seed, seeds_of
from .page import Page
from .traffic import FULL, faster, lines_of

OPPOSITE, NOT_REACHED, OPEN, REPRODUCED, UNTESTABLE = "opposite", "not reached", "open", "reproduced", "not testable here"
VERDICTS = {  # in the order of the page
    OPPOSITE: "the contrary holds for certain; of a quality: in a training it is worse than if ranks never exchange",
    NOT_REACHED: "less than the authors say for certain; of a quality: a training misses that of `fp32`",
    OPEN: "the intervals do not decide", REPRODUCED: "as the authors say, for certain",
    UNTESTABLE: "needs machines, data or models that the records do not have"}

MODELS = tuple(case.model for case in FULL)
kept = functools.cache(lambda name: read_kept(ALL / f"{name}.json"))


@dataclasses.dataclass(frozen=True)
class Claim:
    """What authors say. `measure`: (what we measured, verdict), from records; `records`: of which pages and names."""

    by: str
    said: str
    measure: Callable
    records: tuple = ()
    why: str = ""


def _judged(low, high, least=1.0):
    """The verdict on a claim that a ratio is at least `least`, from its interval."""
    return REPRODUCED if low >= least else OPEN if high >= least else OPPOSITE if high < 1 else NOT_REACHED


def _speeds(models, method, control):
    """[(ratio, low, high, model, Mbit/s)] of the speed-ups of the page on larger models."""
    found = []
    for model in models:
        rows, rates = lines_of(kept(f"traffic/{model}"))
        found += [(*faster(rows[control], rows[method], link), model, rate) for link, rate in enumerate(rates)]
    return found


def _speed_up(models, method, control, factor, rate):
    """Over the link of `rate`, and the largest over all links; without a rate the largest alone decides."""
    found = _speeds(models, method, control)

    def said(ratio, low, high, model, at):
        return f"{text.measured(ratio, low, high, show=text.ratio)} (`{model}`, {at:,.0f} Mbit/s)"
    largest = max(found)
    decides = max(one for one in found if rate in (None, one[-1]))
    words = f"at most {said(*largest)}" if decides == largest else f"{said(*decides)}; at most {said(*largest)}"
    return words, _judged(decides[1], decides[2], factor)


def speed(by, said, method, control, factor, why, models=MODELS, rate=None):
    return Claim(by, said, functools.partial(_speed_up, models, method, control, factor, rate),
                 tuple(f"traffic/{model}" for model in models), why)


def _quality(trainings):
    """A claim that a method keeps the quality of fp32, from [(record, its spec there)]."""
    said, found = [], set()
    for name, method in trainings:
        one = training_verdicts.trained(kept(name))[method]
        share = one.total.get("gap_share_over_seeds")
        worse_than_alone = bool(share) and share["high"] < 0
        found.add(OPPOSITE if worse_than_alone else one.quality())
        alone = ", worse than without an exchange" if worse_than_alone else ""
        said.append(f"{training_verdicts.behind(one.total)} behind `fp32`{alone} "
                    f"(`{one.rows[0]['model']}`, {kept(name).gradcomp['ranks']} ranks)")
    verdict = (OPPOSITE if OPPOSITE in found else NOT_REACHED if verdicts.MISSED in found else
               REPRODUCED if found == {verdicts.MATCHED} else OPEN)
    return "; ".join(said), verdict


def quality(by, said, *trainings, why=""):
    return Claim(by, said, functools.partial(_quality, trainings), tuple(dict.fromkeys(name for name, _ in trainings)), why)


def _worse(name, method, other):
    """A claim that `other` is worse than `method`, by the perplexity or accuracy of each seed."""
    found = training_verdicts.trained(kept(name))
    mine, theirs, accuracy = found[method].rows, found[other].rows, found[method].rows[0]["metric"] == "accuracy"
    ratios = ratio_of(*([row["test_quality"] for row in rows] for rows in ((mine, theirs) if accuracy else (theirs, mine))))
    word = "accuracy" if accuracy else "perplexity"
    said = f"{word} of `{other}` {'under' if accuracy else 'over'} that of `{method}`: {text.measured(*ratios, show=text.ratio)}"
    return said, _judged(ratios[1], ratios[2])


def worse(by, said, name, method, other, why=""):
    return Claim(by, said, functools.partial(_worse, name, method, other), (name,), why)


def _sooner(name, method, other):
    """A claim that `method` reaches the target in less time than `other`, seed by seed."""
    seeds, _ = seeds_of(kept(name))
    pairs = seed_by_seed(seeds[method], seeds[other], "time_to_target_s")
    ratio, low, high = ratio_of(*pairs)
    said = f"{text.measured(ratio, low, high, show=text.ratio)} the speed to the target"
    return said, _judged(low, high)


def sooner(by, said, name, method, other, why=""):
    return Claim(by, said, functools.partial(_sooner, name, method, other), (name,), why)


def _density(own, others, ours):
    """A claim that thresholds send what was asked, at 0.1 % without feedback, better than others do. `ours`: what we changed."""
    sent = {row["label"].removesuffix(":ratio=0.001:feedback=none"): row["density_ratio_mean"]
            for row in kept("sparsifiers/target_0.001_no_feedback").rows}
    said = ", ".join(f"`{label}` {text.ratio(sent[label])}" for label in (*own, *others))

    def off(labels):
        return min(abs(math.log(sent[label])) for label in labels)
    return (f"sent over target: {said}; with our corrections `{ours}` {text.ratio(sent[ours])}",
            REPRODUCED if off(own) < off(others) else OPPOSITE)


def _bytes():
    """The published table of PowerSGD, in whole MB an epoch."""
    lines = [line for line in training_bars.epochs(kept("training/epoch_resnet18"))[1] if line[-1] != text.DASH]
    equal = sum(line[-1] == "equal" for line in lines)
    return f"{equal} of {len(lines)} rows equal", REPRODUCED if equal == len(lines) else NOT_REACHED


def _ratio():
    """By how much DGC shrinks a gradient at 0.1 %."""
    found = {}
    for model in MODELS:
        rows, _ = lines_of(kept(f"traffic/{model}"))
        found[model] = rows["fp32"]["payload_bytes"] / rows["dgc:ratio=0.001"]["payload_bytes"]
    model = max(found, key=lambda name: found[name])
    return f"at most {text.ratio(found[model])} (`{model}`, indices of 32 bits)", REPRODUCED if found[model] >= 270 else NOT_REACHED


def untestable(by, said, why):
    return Claim(by, said, lambda: (text.DASH, UNTESTABLE), why=why)


SMALL = "the largest model of the records has 28 million parameters, on two CPU cores"
TAC = "fp32:strategy=priority:strategy.order=tac:strategy.bucket_kib=64"
ADACOMM = "fp32:strategy=local:strategy.period=4:strategy.adaptive=loss:strategy.adapt_every=60"
SIDCO, POWERSGD = "SIDCo (Abdelmoniem et al. 2021)", "PowerSGD (Vogels et al. 2019)"
SLOW = "two CPU cores compute so long that this link hides little"
SELECTS = "our top-k and DGC select in few passes, so little is left to win"
CLAIMS = (
    speed(SIDCO, "up to 41.7 times as fast as dense (LSTM on PTB, density 0.1 %, 8 workers)", "sidco:ratio=0.001", "fp32", 41.7,
          "two ranks; over slower links or with larger models the factor grows without a bound"),
    speed(SIDCO, "up to 7.5 times as fast as top-k", "sidco:ratio=0.001", "top_k:ratio=0.001", 7.5, SELECTS),
    speed(SIDCO, "up to 1.9 times as fast as DGC", "sidco:ratio=0.001", "dgc:ratio=0.001", 1.9, SELECTS),
    Claim(SIDCO, "its threshold meets the density better than those of RedSync and GaussianKSGD", functools.partial(
        _density, tuple(f"sidco:sid={name}:variant=paper" for name in ("exponential", "gamma", "pareto")),
        ("redsync:variant=paper:search=binary", "gaussian_k:variant=paper"), "sidco:sid=exponential"),
        ("sparsifiers/target_0.001_no_feedback",), "ResNet-20 without feedback, at 0.1 %, every method as published"),
    Claim(POWERSGD, "MB an epoch of ResNet-18 with 16 workers: 1023 of SGD, 4, 8 and 14 of ranks 1, 2 and 4", _bytes,
          ("training/epoch_resnet18",)),
    speed(POWERSGD, "239 ms a batch against 312 (ResNet-18, 16 GPUs, 10 Gbit/s)", "powersgd:rank=2", "fp32", 312 / 239, SLOW,
          ("resnet18",), 10000),
    speed(POWERSGD, "55 % less time (LSTM, 16 GPUs, 10 Gbit/s)", "powersgd:rank=4", "fp32", 1 / 0.45, SLOW, ("lstm_2x650",), 10000),
    quality(POWERSGD, "rank 2 has the accuracy of SGD (94.4 % against 94.3 %)", ("letters/letters_2", "powersgd:rank=2"),
            ("letters/letters_8", "powersgd:rank=2"), ("training/resnet20", "powersgd:rank=2"),
            ("training/lstm", "powersgd:rank=2"), ("training/lstm_kjv", "powersgd:rank=2"),
            why="short trainings of small models"),
    worse(POWERSGD, "biased with feedback beats unbiased (94.4 % against 75 to 76 %)", "training/powersgd_ranks_hmm", "powersgd:rank=2",
          "powersgd:rank=2:variant=unbiased"),
    worse(POWERSGD, "a warm start is better than a cold one", "training/powersgd_warm_hmm", "powersgd:rank=2",
          "powersgd:rank=2:variant=cold"),
    untestable(POWERSGD, "scales with the workers over NCCL and gloo", "needs a cluster"),
    Claim("DGC (Lin et al. 2018)", "gradients 270 to 600 times smaller at 0.1 %", _ratio,
          tuple(f"traffic/{model}" for model in MODELS), "vectors travel whole, as with the authors"),
    quality("DGC", "without a loss of accuracy", ("letters/letters_2", "dgc:ratio=0.001:warmup=quarters"),
            ("letters/letters_8", "dgc:ratio=0.001:warmup=quarters"), ("letters/letters_2", "dgc:ratio=0.01"),
            ("training/sparsifiers_images", "dgc:ratio=0.01"),
            ("training/sparsifiers_kjv", "dgc:ratio=0.01"), why="the first two at 0.1 % with the authors' warm-up, the others at 1 %; "
            "short trainings"),
    quality("Aji and Heafield 2017", "99 % of a gradient can be dropped", ("letters/letters_2", "top_k:ratio=0.01"),
            ("letters/letters_8", "top_k:ratio=0.01"), ("training/resnet20", "top_k:ratio=0.01"),
            ("training/lstm", "top_k:ratio=0.01"), ("training/lstm_kjv", "top_k:ratio=0.01"), why="short trainings"),
    quality("signSGD with majority vote (Bernstein et al. 2019)", "converges as fast as SGD", ("letters/letters_2", "sign"),
            ("letters/letters_8", "sign"), ("training/resnet20", "sign"), ("training/lstm", "sign"),
            ("training/lstm_4", "sign"), ("training/lstm_kjv", "sign"),
            why="with more ranks and on a real text it falls behind"),
    quality("QSGD (Alistarh et al. 2017)", "4 bits lose no accuracy", ("letters/letters_2", "qsgd:bits=4"),
            ("letters/letters_8", "qsgd:bits=4"), ("training/resnet20", "qsgd:bits=4"), ("training/lstm", "qsgd:bits=4"),
            ("training/lstm_kjv", "qsgd:bits=4")),
    quality("TernGrad (Wen et al. 2017)", "three levels lose no accuracy", ("training/levels_hmm", "terngrad"),
            why="on a text on which two ranks need hardly exchange"),
    worse("TernGrad", "QSGD needs 16 levels for what TernGrad reaches with 3", "training/levels_hmm", "terngrad", "qsgd:bits=2",
          why="`qsgd:bits=2` has three levels"),
    untestable("1-bit SGD (Seide et al. 2014)", "up to 10 times as fast (160 million parameters, GPUs)", SMALL),
    untestable("Strom 2015", "54 times as fast (80 GPUs, speech) at 1.8 % more errors", SMALL),
    untestable("COCCL 2025", "1.05 to 1.24 times the throughput (language models on GPUs)", SMALL),
    sooner("Mercury (Zeng et al. 2021)", "faster than TicTac", "mercury/links_100mbit", GROUPED, TAC,
           "at 100 Mbit/s with two ranks; samples that are drawn more often save few steps here"),
    sooner("Mercury", "faster than AdaComm", "mercury/links_100mbit", GROUPED, ADACOMM, "as above"),
)


class Claims(Page):
    name, tool, home, measures = "claims", "claims_page", "docs", False
    about = "Writes what authors say beside what the records say. Measures nothing."

    def check(self, options):
        options.records = ALL

    def names(self, options):
        return list(dict.fromkeys(name for claim in CLAIMS for name in claim.records))

    def commands(self, options):
        return {}

    def text(self, records, options):
        found = [(claim, *claim.measure()) for claim in CLAIMS]
        counts = [f"{sum(verdict == word for *_, verdict in found)} are {word}" for word in VERDICTS]
        meanings = [[f"*{word}*", meaning] for word, meaning in VERDICTS.items()]
        lines = [[claim.by, claim.said, said, f"**{verdict}**", claim.why or text.DASH, _places(claim)]
                 for word in VERDICTS for claim, said, verdict in found if verdict == word]
        return "\n".join([
            "# Claims", "",
            f"Of {len(found)} claims of authors, {text.listed(counts)}. A verdict is about this machine, these small models and a few "
            "ranks: what is not reached here may be reached elsewhere.", "",
            "## All claims", "",
            "Made from the records of [the pages of results](measuring.md) by `./run results claims`. Mean (low to high): 95 % "
            "intervals over seeds or rounds. Claims that contradict the records come first.", "",
            *markdown.table(["verdict", "meaning"], meanings, numbers=False), "",
            *markdown.table(["by", "claim", "measured", "verdict", "remark", "records"], lines, numbers=False), ""])


def _places(claim):
    """Links to the pages of the records of a claim, with their names."""
    pages: dict = {}
    for record in claim.records:
        page, name = record.split("/")
        pages.setdefault(page, []).append(name)
    return "; ".join(f"[{page}](results/{page}.md): {', '.join(f'`{name}`' for name in names)}"
                     for page, names in pages.items()) or text.DASH


PAGE = Claims()
