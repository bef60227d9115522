"""docs/results/traffic.md: models with millions of parameters over emulated links: bytes, step times and the first part of the
quality curve, compared with the claims of authors for such traffic."""
import dataclasses

from gradcomp.output import text

from . import one_gradient
from .intervals import TIMES, ratio_of, shown_mean, spans, sure
from .page import Job, Page, Text
from .ranks import rows_of

BLOCK = 2  # steps of one method over one link in turn; the first is not timed, so each block has one time
METHODS = ("top_k:ratio=0.01", "top_k:ratio=0.001", "dgc:ratio=0.001", "sidco:ratio=0.001", "powersgd:rank=2", "powersgd:rank=4",
           "qsgd:bits=4", "ef_sign")
CONTROLS = ("fp32", "fp16", "bf16")
TWO = ("env", "OMP_NUM_THREADS=1", "OMP_PROC_BIND=false", "mpirun", "-n", 2)
LINKS = "100Mbit/s,1Gbit/s,10Gbit/s,50us"
IMAGES = ("--lr", 0.02, "--momentum", 0.9, "--weight-decay", 0.0005, "--batch", 16)
WORDS = ("--length", 32, "--momentum", 0.9, "--clip", 1, "--batch", 8)


@dataclasses.dataclass(frozen=True)
class Claim:
    """What authors say of the speed of a method beside another one: by which factor it is faster."""

    method: str
    control: str
    factor: float
    said: str


CLAIMS = (Claim("sidco:ratio=0.001", "fp32", 41.7, "SIDCo (Abdelmoniem et al. 2021): up to 41.7\N{MULTIPLICATION SIGN} faster than "
                "dense (an LSTM on PTB, density 0.1 %, 8 workers)"),
          Claim("sidco:ratio=0.001", "top_k:ratio=0.001", 7.6, "SIDCo: up to 7.6\N{MULTIPLICATION SIGN} faster than top-k"),
          Claim("sidco:ratio=0.001", "dgc:ratio=0.001", 1.9, "SIDCo: up to 1.9\N{MULTIPLICATION SIGN} faster than DGC"),
          Claim("powersgd:rank=2", "fp32", 1.31, "PowerSGD (Vogels et al. 2019), ResNet-18, 16 workers: 239 ms a batch against 312, "
                "1.31\N{MULTIPLICATION SIGN}"),
          Claim("powersgd:rank=4", "fp32", 2.2, "PowerSGD, an LSTM, 16 workers: 55 % less time, 2.2\N{MULTIPLICATION SIGN}"))
RULE = ("For each model the errors of both methods, then our speeds as above, from the slowest to the fastest link, with verdicts. "
        "*Confirmed*: the whole interval is at or above the factor of the claim. *Less*: it is below the factor and above 1, so the "
        "method is faster, but by less. *Refuted*: it is below the factor and not above 1. *Open*: it reaches across the factor. A "
        "verdict is about our machine, this model and this link, without a correction for the number of verdicts. The authors' machines "
        "had GPUs, other links and more ranks: with more ranks gathered messages grow and sums do not. A slow link makes every factor "
        "over `fp32` large, so *confirmed* does not mean that the factor would be reached over the authors' links. *Up to* is the "
        "authors' best case: *less* and *refuted* mean that it is not reached here, and not that it is reached nowhere.")


@dataclasses.dataclass(frozen=True)
class Case:
    """What is trained, at which rate for all methods, and for how many steps."""

    model: str
    data: str
    options: tuple
    steps: int


FULL = (Case("resnet18", "shapetex10:noise=0.2:test=1000", IMAGES, 60), Case("vgg11", "shapetex10:noise=0.2:test=1000", IMAGES, 60),
        Case("lstm_2x650", "hmm:vocabulary=10000", ("--lr", 2, *WORDS), 60),
        Case("transformer_4x256", "hmm:vocabulary=10000", ("--lr", 0.2, *WORDS), 90))
QUICK = (Case("resnet8", "shapetex10:train=64:test=32", ("--lr", 0.02, "--batch", 4), 6),
         Case("lstm_1x96", "hmm:tokens=6000:test=700", ("--lr", 1, "--length", 8, "--batch", 4), 6))


def lines_of(trained):
    """({label: row}, the rates of its links)"""
    rows = rows_of(trained)
    return rows, [one["rate_mbit_s"] for one in rows["fp32"]["over_links"]]


def over(row, link):
    """Milliseconds of the mean step over link number `link`."""
    return row["over_links"][link]["step_time_ms"]["mean"]


def blocks(row, link):
    """Milliseconds of the timed step of each block over link number `link`; their mean alone if the record lacks single steps."""
    return row[TIMES][link::len(row["over_links"])] if TIMES in row else [over(row, link)]


def faster(control, row, link):
    """ratio_of() the step of the control and that of a method over link number `link`; without an interval beside itself and if the
    record lacks single steps, and without values if one of them diverged."""
    if text.diverged([control, row]):
        return None, None, None
    return (1.0, None, None) if row is control else ratio_of(blocks(control, link), blocks(row, link))


def speed(control, row, link):
    """faster() in words."""
    return text.measured(*faster(control, row, link), show=text.ratio)


def fastest(rows, link, labels):
    """The row of those with these labels whose mean step over link number `link` is the shortest; diverged ones do not count."""
    return min((rows[label] for label in labels if not text.diverged([rows[label]])), key=lambda row: over(row, link))


def answer(trained):
    """(by how much the fastest compressed method makes steps faster over each link; the same for each model), from {model: record}. The
    interval is corrected for the number of methods among which the fastest was chosen."""
    lines, speeds = [], {}
    for model, record in trained.items():
        rows, rates = lines_of(record)
        cells = []
        for link, rate in enumerate(rates):
            dense, compressed = (fastest(rows, link, labels) for labels in (CONTROLS, METHODS))
            found = ratio_of(blocks(dense, link), blocks(compressed, link), compared=len(METHODS))
            speeds.setdefault(rate, []).append(found[0])
            cells.append(", ".join(filter(None, [text.ratio(found[0]), sure(*found)])))
        lines.append([f"{model}, {next(iter(rows.values()))['parameters'] / 1e6:.1f} M", *cells])
    return (f"{spans(speeds)} Two ranks, throughput only: no quality was judged.",
            (["model, parameters", *(f"{rate:,.0f} Mbit/s" for rate in speeds)], lines))


def curve(row):
    """The quality on the validation set at each evaluation."""
    return " \N{RIGHTWARDS ARROW} ".join(text.quality(row["metric"], value) for value in row["curve"]["quality"])


def evaluated(trained):
    """Sentences on the qualities of a table: when they were evaluated, and whether they say anything. gradcomp-train matches no
    method, not even fp32, if fp32 has learned too little."""
    row = rows_of(trained)["fp32"]
    if text.diverged([row]):
        return f"**The qualities of this table say nothing**: `fp32` itself {text.diverged([row])}."
    *steps, last = map(str, row["curve"]["step"])
    said = f"Validation {row['metric']}: after steps {', '.join(steps)} and {last}."
    return said if row["quality_matched"] else (
        f"{said} **The qualities of this table say nothing**: with a test {row['metric']} of "
        f"{text.quality(row['metric'], row['test_quality'])}, `fp32` itself is not clearly better than a predictor that looks at no "
        "input ([by which rule](../training.md#what-is-compared)).")


def table(trained, errors):
    """A line per method: bytes, error of one gradient, qualities, and for each link the step time and the speed relative to
    fp32."""
    rows, rates = lines_of(trained)
    known, lines = one_gradient.nmse(errors), []
    for label, row in rows.items():
        cells = [f"`{label}`", text.size(row["payload_bytes"]), one_gradient.cell(known, label),
                 curve(row), text.quality_of(row)]
        for link in range(len(rates)):
            cells += [shown_mean(blocks(row, link)), speed(rows["fp32"], row, link)]
        lines.append(cells)
    links, metric = [head for rate in rates for head in (f"{rate:g} Mbit/s: ms", "speed")], rows["fp32"]["metric"]
    return ["method", "payload per step", "NMSE", f"validation {metric}", f"test {metric}", *links], lines


def verdict(factor, low, high):
    """The word for the claim that a method is faster by `factor`, from the interval of our speed."""
    if low is None:
        return "open"
    if low >= factor:
        return "confirmed"
    if high >= factor:
        return "open"
    return "less" if low > 1 else "refuted"


def _claimed(claim, record, known):
    """A cell: the errors `known` of both methods of a claim, then for each link our speed with its verdict."""
    rows, rates = lines_of(record)
    pair = rows[claim.control], rows[claim.method]
    errors = " against ".join(one_gradient.cell(known, label) for label in (claim.method, claim.control))
    speeds = [f"{speed(*pair, link)} {verdict(claim.factor, *faster(*pair, link)[1:])}" for link in range(len(rates))]
    return "<br>".join([f"NMSE {errors}", *speeds])


def claims(trained, errors):
    """A line per claim, from {model: record} and {model: record of its errors}: what we measured for every model."""
    lines = [[claim.said, f"`{claim.method}` over `{claim.control}`",
              *(_claimed(claim, record, one_gradient.nmse(errors[model])) for model, record in trained.items())] for claim in CLAIMS]
    return ["claim", "here", *(f"`{model}`" for model in trained)], lines


class Traffic(Page):
    name, tool = "traffic", "traffic_page"
    about = "Measures the throughput of large models over emulated links, with short trainings. Needs a quiet machine."
    programs = ("gradcomp-train", "gradcomp-evaluate", "mpirun")

    def jobs(self, options):
        return [job for case in (QUICK if options.quick else FULL) for job in self._case(case, options.folder / case.model)]

    @staticmethod
    def _case(case, folder):
        """The steps over all links, one gradient, and what each method makes of it."""
        train = ("gradcomp-train", "--data", case.data, "--model", case.model, *case.options, "--steps", case.steps)
        return [Job(case.model, (*TWO, *train, "--evaluate-every", case.steps // 3, "--block", BLOCK, "--link", LINKS, "--methods",
                                 ",".join(METHODS)), f"{case.model}: steps over all links", samples=(TIMES,)),
                *one_gradient.jobs(train, folder, (*CONTROLS, *METHODS), (f"{case.model}_gradient", f"{case.model}_error"))]

    def text(self, records, options):
        cases = QUICK if options.quick else FULL
        trained, errors = ({case.model: records[case.model + end] for case in cases} for end in ("", "_error"))
        out = Text(self, "heavy traffic", records, *answer(trained))
        out.lines += ["Two ranks of one thread on one machine, the link emulated, all methods and links in turn in one job. One "
                      "seed, one learning rate for all methods, and so few steps that the quality says at most which methods "
                      "follow `fp32` at first, and nothing where a table says so: **throughput only**. The emulation "
                      "has errors of its own ([how large](links.md)). *Speed*: mean step of `fp32` over that of the method, over "
                      "the same link, with its 95 % interval by Student's t over rounds, in which methods run in turn. Dense methods "
                      f"have the usual bucket size and not their best one. {one_gradient.NOTE}", ""]
        for case in cases:
            parameters = trained[case.model].rows[0]["parameters"]
            out.add(f"{case.model}, throughput only", f"{parameters:,} parameters, `{case.data}`, {case.steps} steps. "
                    f"{evaluated(trained[case.model])}", table(trained[case.model], errors[case.model]))
        out.add("Claims, throughput only", RULE, claims(trained, errors))
        return out.whole()


PAGE = Traffic()
