"""The page on kernels: compress and decompress of a method on one thread, beside the time in which the same program moves the
bytes that the method must move."""
import dataclasses

from gradcomp.gate import deterministic
from gradcomp.output import text
from gradcomp.places import ROOT


@dataclasses.dataclass(frozen=True)
class Line:
    """A method of the table."""

    family: str
    spec: str


PLAIN = ":feedback=none"
LINES = (
    Line("top-k", "top_k:ratio=0.01" + PLAIN),
    Line("top-k", "top_k:ratio=0.001" + PLAIN),
    Line("top-k, fed back", "top_k:ratio=0.01"),
    Line("sampled top-k", "dgc:ratio=0.01" + PLAIN),
    Line("sampled top-k", "dgc:ratio=0.001" + PLAIN),
    Line("sampled top-k, momentum corrected", "dgc:ratio=0.01"),
    Line("fitted threshold", "sidco:ratio=0.01:stages=1" + PLAIN),
    Line("fitted threshold", "sidco:ratio=0.001:stages=1" + PLAIN),
    Line("fitted threshold, fed back", "sidco:ratio=0.01:stages=adaptive"),
    Line("fitted threshold, fed back", "sidco:ratio=0.001:stages=adaptive"),
    Line("searched threshold", "redsync:ratio=0.01" + PLAIN),
    Line("searched threshold", "gaussian_k:ratio=0.01" + PLAIN),
    Line("random entries", "random_k:ratio=0.01" + PLAIN),
    Line("signs", "sign"),
    Line("signs", "ef_sign" + PLAIN),
    Line("signs, fed back", "ef_sign"),
    Line("signs", "one_bit" + PLAIN),
    Line("signs, fed back", "one_bit"),
    Line("dithering", "qsgd:bits=4"),
    Line("dithering", "terngrad"),
    Line("powers of two", "natural"),
    Line("casts", "fp16"),
    Line("casts", "bf16"),
    Line("low rank, fed back", "powersgd:rank=1"),
    Line("low rank, fed back", "powersgd:rank=4"),
)
STREAMS = {"read": "read", "written": "write", "updated": "update"}  # what moves, and the case that times it
BASELINE = ROOT / "docs/baselines/deterministic/figures.json"


def pairs(record, elements):
    """{method as typed: row} of compress and decompress together."""
    return {row["method"]: row for row in record.rows if row.get("phase") == "pair" and row["elements"] == elements}


def streams(record, elements):
    """{case: median ms} of reading, writing and updating an array of the length of the gradient."""
    return {row["operation"]: row["time_ms"]["median"] for row in record.rows
            if row["operation"] in STREAMS.values() and row["elements"] == elements}


def limit(row, times):
    """The ms in which the program moves what a pair must move: arrays of the length of the gradient, and the message, which is
    written and read."""
    message = row["payload_bytes"] / row["dense_bytes"]
    moved = row["moves"] | {"read": row["moves"]["read"] + message, "written": row["moves"]["written"] + message}
    return sum(count * times[STREAMS[kind]] for kind, count in moved.items())


def times_limit(row, times):
    """The time of a pair over its limit."""
    return row["time_ms"]["median"] / limit(row, times)


SHOWN = ("fp16", "sign", "qsgd:bits=4", "top_k:ratio=0.01" + PLAIN, "powersgd:rank=4")  # in the table of the answer


def answer(record, large):
    """(how near to their limits the pairs come; a table of a few methods)"""
    found, times = pairs(record, large), streams(record, large)
    ratio = {line.spec: times_limit(found[line.spec], times) for line in LINES if line.spec in found}
    low, high = min(ratio, key=lambda spec: ratio[spec]), max(ratio, key=lambda spec: ratio[spec])
    return (f"Compress and decompress of {large:,} elements on one thread take {text.number(ratio[low])} (`{low}`) to "
            f"{text.number(ratio[high])} times (`{high}`) as long as the same program needs to move the bytes that the method must "
            "move.",
            (["method", "ms", "limit, ms", "x limit"],
             [[f"`{spec}`", text.number(found[spec]["time_ms"]["median"]), text.number(limit(found[spec], times)),
               text.ratio(ratio[spec])] for spec in SHOWN]))


def _moved(row):
    return ", ".join(f"{text.number(count)} {kind}" for kind, count in row["moves"].items() if count) or "none"


def instructions(path=BASELINE):
    """{method: instructions of compress and decompress per element}, with the defaults of each method."""
    found = {}
    for row in deterministic.read(path)["benchmarks"]:
        _, method, _ = row["name"].split("/")
        found[method] = found.get(method, 0) + row["instructions"] / row["elements"]
    return found


def table(record, large, small, counted):
    """A line per method: what it must move, the limit and the time of the pair on `large` elements with its error, and the time an
    element at both sizes beside the instructions an element (`counted`, by method)."""
    big, little, times, lines = pairs(record, large), pairs(record, small), streams(record, large), []
    for line in LINES:
        row, cached = big.get(line.spec), little.get(line.spec)
        each = [text.DASH if one is None else text.number(1e6 * one["time_ms"]["median"] / one["elements"]) for one in (row, cached)]
        measured = [text.DASH] * 6 if row is None else [
            _moved(row), text.number(limit(row, times)), text.number(row["time_ms"]["median"]), text.ratio(times_limit(row, times)),
            text.ratio(row["read_limit_ratio"]), text.number(row["nmse"])]
        lines.append([line.family, f"`{line.spec}`", *measured, *each, text.number(counted.get(line.spec.partition(":")[0]))])
    return ["family", "method", "arrays that must move", "limit, ms", f"pair of {large:,}, ms", "x limit", "x read", "NMSE",
            f"ns an element, {large:,}", f"ns an element, {small:,}", "instructions an element"], lines


def card(records):
    """The limits of the machine from [(threads, record of --machine)], a line per limit and number of elements."""
    cells = {}
    for threads, record in records:
        for row in record.rows:
            if row["operation"] in ("read", "write", "update", "copy", "triad"):
                cells.setdefault((row["operation"], row["elements"]), {})[threads] = text.number(row["gb_per_second"])
            elif row["operation"] == "sgemm":
                cells.setdefault(("sgemm", None), {})[threads] = text.number(row["gflop_per_second"])
    columns = list(dict.fromkeys(threads for threads, _ in records))
    lines = [[name, text.DASH if elements is None else f"{elements:,}", "GFLOP/s" if name == "sgemm" else "GB/s",
              *(values.get(threads, text.DASH) for threads in columns)] for (name, elements), values in cells.items()]
    return ["limit", "elements", "unit", *(f"threads: {threads}" for threads in columns)], lines


def link(record):
    """A dense allreduce of two ranks of this machine, a line per size."""
    lines = [[f"{row['elements']:,}", text.number(row["time_ms"]["median"]), text.number(row["bus_bw_gb_s"])]
             for row in record.rows]
    return ["elements", "median, ms", "bus bandwidth, GB/s"], lines
