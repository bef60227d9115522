"""docs/results/peers.md: our training steps beside those of PyTorch's DDP with its own hooks, on the same networks, weights, batches
and shaped links."""
import dataclasses
import pathlib
import shutil
import statistics
import tempfile

from gradcomp.json_files import read_json
from gradcomp.output import text
from gradcomp.places import ROOT

from .commands import command
from .intervals import TIMES, ratio_of, shown_mean
from .links import Case
from .page import UNKNOWN, Job, Page, Text, write_rows
from .ranks import shaped

ALONE = "no_exchange"
POWERSGD = "powersgd:rank=2:matrix=authors:min_rate=2:start_step=2"
GROUPS = "max_min:bits=8:rounding=nearest"
PAIRS = (("fp32", "dense"), ("fp16", "fp16_compress_hook"), ("bf16", "bf16_compress_hook"), (POWERSGD, "powerSGD_hook"),
         (POWERSGD, "batched_powerSGD_hook"), (f"{GROUPS}:group=tensor", "quantization_pertensor_hook"),
         (GROUPS, "quantization_perchannel_hook"), (ALONE, ALONE))  # ours, and the hook of DDP
RATES = (100, 1000)  # Mbit/s
BLOCKS = 3  # of each method in a round; the first is left out, as memories are made and PowerSGD begins there
TOLERANCE = 1e-3  # relative difference of dense losses that is rounding
WORDS = ("shorter", "longer", "open")
# A small rate for ResNet-20: at the default of 0.05, each of the first steps makes roundings of losses up to 100 times as large.
FULL = (Case("resnet20", ("--data", "shapetex10", "--batch", 16, "--lr", 0.002), 15),
        Case("lstm_1x96", ("--data", "hmm", "--length", 32, "--batch", 32, "--lr", 2, "--clip", 1), 21))
QUICK = (Case("resnet8", ("--data", "shapetex10:train=64:test=32", "--batch", 4, "--lr", 0.002), 6),)


@dataclasses.dataclass(frozen=True)
class Steps:
    """What one method did in one round."""

    milliseconds: float  # mean step, without the first block
    size: float | None  # bytes of a step of the last block, of the rank that sends most; None if they were not counted
    loss: float  # mean training loss of the last block, in nats


def ours(row, steps):
    """The Steps of a row of gradcomp-train, which evaluated after each block; None if the method diverged."""
    curve, block = row["curve"], steps // BLOCKS
    if "diverged_at_step" in row:
        return None
    return Steps(statistics.fmean(row[TIMES][len(row[TIMES]) // BLOCKS:]),
                 (curve["wire_bytes"][-1] - curve["wire_bytes"][-2]) / block, curve["loss"][-1])


def theirs(row, steps):
    """The Steps of a row of peers_ddp; None if PyTorch refused the method."""
    if "refused" in row:
        return None
    sent = row["wire_bytes"]
    return Steps(statistics.fmean(row[TIMES][len(row[TIMES]) // BLOCKS:]), sent[-1] if sent else None,
                 statistics.fmean(row["losses"][-(steps // BLOCKS):]))


def verdict(low, high):
    """The word for our step, which takes low to high times as long as that of PyTorch."""
    return "shorter" if high < 1 else "longer" if low > 1 else "open"


def table(mine, others, steps):
    """(the table, how often a pair that exchanges has each verdict), from the records of all rounds of both programs."""
    lines, counts = [], dict.fromkeys(WORDS, 0)
    for own, hook in PAIRS:
        both = [[read(row, steps) for record in records for row in record.rows if row["label"] == label]
                for read, records, label in ((ours, mine, own), (theirs, others, hook))]
        cells = [_cells(found) for found in both]
        ratio = text.DASH
        if all(both) and None not in [*both[0], *both[1]]:
            middle, low, high = ratio_of(*([one.milliseconds for one in found] for found in both))
            word = verdict(low, high)
            ratio = f"{text.number(middle)}{text.within((low, high))} {word}"
            if own != ALONE:
                counts[word] += 1
        (step, size, loss), (their_step, their_size, their_loss) = cells
        lines.append([f"`{own}`", f"`{hook}`", step, their_step, ratio, size, their_size, loss, their_loss])
    return (["ours", "DDP", "our step, ms", "DDP's, ms", "ours / DDP's", "our bytes", "DDP's", "our loss", "DDP's"], lines), counts


def _cells(found):
    """Step, bytes and loss as text."""
    if not found or None in found:
        return [text.DASH] * 3
    return [shown_mean([one.milliseconds for one in found]), text.size(found[-1].size), text.number(found[-1].loss, 4)]


def refusals(records):
    """{hook: why PyTorch refused it}"""
    return {row["label"]: row["refused"] for record in records for row in record.rows if "refused" in row}


def dense_error(records):
    """The largest relative difference of the dense losses of a step, of both programs, in any round."""
    return max(row["loss_error"] for record in records for row in record.rows if row["label"] == "dense")


def agreement(errors):
    """A sentence on {model: dense_error()}."""
    said = text.listed([f"{error:.1e} (`{model}`)" for model, error in errors.items()])
    if all(error <= TOLERANCE for error in errors.values()):
        return f"The dense losses of both programs agree in every step: their largest relative difference is {said}."
    return (f"**The dense losses of both programs do not agree** within {TOLERANCE:g} in every step: their largest relative difference "
            f"is {said}. So the programs do not train the same, and the losses below are no comparison of methods.")


def answer(summary):
    """How often our step is shorter, from [(model and link, {verdict: how often})]."""
    if not summary:
        return (UNKNOWN,)
    counts = {word: sum(found[word] for _, found in summary) for word in WORDS}
    return (f"Beside PyTorch's DDP over gloo, on two ranks with one thread each, our step is shorter in {counts['shorter']} of "
            f"{sum(counts.values())} comparisons (model, link, method), longer in {counts['longer']} and open in {counts['open']}. The "
            "steps hold the computation too, in which the kernels of the two differ: the line `no_exchange` of each table has it alone.",
            (["steps", *WORDS], [[title, *map(str, found.values())] for title, found in summary]))


def _name(case, rate, who, number):
    return f"{case.model}_{rate}mbit_{who}_{number}"


def _train(case):
    """gradcomp-train with all our methods in turn, in as many blocks as the peer has."""
    return ("gradcomp-train", "--model", case.model, *case.options, "--steps", case.steps, "--block", case.steps // BLOCKS)


def _make(words, meet):
    """make() of a job of peers_ddp: gives its ranks an empty folder to meet in."""
    def make(output, built):
        shutil.rmtree(ROOT / meet, ignore_errors=True)
        (ROOT / meet).mkdir(parents=True)
        with tempfile.TemporaryDirectory() as folder:
            found = pathlib.Path(folder) / "rows.json"
            command(*words, "--output", found)
            document = read_json(found)
        about = {"torch": document["torch"], "torch_threads": document["threads"]}
        write_rows(output, built, [{"name": row["label"], **row, **about} for row in document["rows"]])
    return make


class Peers(Page):
    name, tool, complete = "peers", "peers_page", False
    about = "Trains beside PyTorch's DDP and its hooks over links that the kernel shapes. Needs root, torch and a quiet machine."
    programs = ("gradcomp-train", "mpirun")
    sources = ("python/gradcomp/links", "python/gradcomp/peers")

    @staticmethod
    def _shape(options):
        """(cases, rates, rounds)"""
        return (QUICK, RATES[1:], 2) if options.quick else (FULL, RATES, 4)

    @staticmethod
    def _round(case, rate, number, dump, meet):
        """The two jobs of a round: both programs over the same links, one right after the other."""
        own = (*shaped(2, rate), *_train(case), "--evaluate-every", case.steps // BLOCKS, "--methods",
               ",".join(dict.fromkeys(mine for mine, _ in PAIRS)))
        yield Job(_name(case, rate, "ours", number), own, f"our steps over {rate} Mbit/s", samples=(TIMES,))
        peer = (*shaped(2, rate), "tools/peers_ddp", dump, "--meet", meet, "--block", case.steps // BLOCKS)
        yield Job(_name(case, rate, "ddp", number), peer, f"DDP's steps over {rate} Mbit/s", samples=(TIMES,), make=_make(peer, meet))

    def jobs(self, options):
        cases, rates, rounds = self._shape(options)
        found = []
        for case in cases:
            folder = options.folder / case.model
            dump = folder / "rank0/model.json"
            words = ("env", "OMP_NUM_THREADS=1", "OMP_PROC_BIND=false", "mpirun", "-n", 2, *_train(case), "--methods", "fp32",
                     "--no-controls", "--dump-batches", folder)
            found.append(Job(f"{case.model}_batches", words, f"{case.model}: weights and batches", (dump,)))
            found += [job for number in range(1, rounds + 1) for rate in rates
                      for job in self._round(case, rate, number, dump, options.folder / "meet")]
        return found

    def text(self, records, options):
        cases, rates, rounds = self._shape(options)
        summary, sections, errors, refused, versions = [], [], {}, {}, []
        for case in cases:
            for rate in rates:
                names = [[_name(case, rate, who, number) for number in range(1, rounds + 1)] for who in ("ours", "ddp")]
                if any(name not in records for several in names for name in several):
                    continue
                mine, others = ([records[name] for name in several] for several in names)
                steps, verdicts = table(mine, others, case.steps)
                title = f"{case.model}, {rate} Mbit/s"
                summary.append((title, verdicts))
                sections.append((f"{title}, throughput only", f"{rounds} rounds of {case.steps} steps.", steps))
                errors[case.model] = max(errors.get(case.model, 0.0), dense_error(others))
                refused |= refusals(others)
                versions += [row["torch"] for record in others for row in record.rows]
        out = Text(self, "beside PyTorch", records, *answer(summary))
        if errors:
            out.lines += [f"{agreement(errors)} PyTorch {text.listed(list(dict.fromkeys(versions)))}.", ""]
        out.lines += [
            "Both programs train the same network on two nodes, [namespaces with shaped links](../links.md), from the same initial "
            "weights, on the same batches and with the same optimiser: `gradcomp-train --dump-batches` wrote them, and "
            "`tools/peers_ddp` reads them. In a round each program has one job, and in a job all its methods take turns in "
            f"{BLOCKS} blocks. Times are means of the slower rank's steps without the first block, with 95 % intervals by Student's t "
            "over rounds. *Shorter*, *longer*: the whole interval of the ratio of our step to that of DDP is below or above 1; *open*: "
            "neither. Bytes are those of a step of the last block. Losses are means over the last block. There are few steps and one "
            "learning rate: **throughput only**.", "",
            "What differs besides the methods: PyTorch has its own kernels for convolutions, LSTMs and the optimiser; it sends through "
            "gloo, ours through Open MPI, each in buckets of its default sizes. Our bytes are those of messages, as the algorithm sends "
            "them. Those of DDP are counted at the network interface, without the headers of packets and with the barrier before each "
            "step; `no_exchange` (DDP's `noop_hook`) shows what the barrier alone sends. "
            "`batched_powerSGD_hook` compresses a bucket as one square matrix, which none of our methods does; it stands beside the "
            "same method of ours as `powerSGD_hook`. The quantisation hooks gather 8 bits per element, with one scale for a bucket "
            "or for 512 elements; `max_min` does the same.", "",
            "Three things had to be put right before the hooks of PyTorch 2.6 ran over gloo at all "
            "(`python/gradcomp/peers/hooks.py`). The quantisation hooks expect the answer of `all_gather` in the form of NCCL, and get "
            "it in this form, at the cost of one copy. "
            "`batched_powerSGD_hook` gives a matrix of two dimensions to a function that asserts three; it gets a third one. Hooks that "
            "exchange more than once per bucket have a single bucket: with several, the second exchanges begin in another order on each "
            "rank, and the job ends.", ""]
        if refused:
            out.lines += ["PyTorch refused: " + "; ".join(f"`{hook}`: {why}" for hook, why in refused.items()) + ".", ""]
        out.name_missing(self.names(options))
        for section in sections:
            out.add(*section)
        return out.whole()


PAGE = Peers()
