"""The page on kernels: compress and decompress of a method on one thread, as a multiple of one read of the gradient."""
import dataclasses

from gradcomp.output import text


@dataclasses.dataclass(frozen=True)
class Line:
    """A method of the table."""

    family: str
    spec: str
    bar: float  # largest number of reads that the pair may take at the large size
    cached: float  # smallest rate of the pair in the cache, Gelements/s
    work: str  # work of the pair besides reading and writing the gradient


PLAIN = ":feedback=none"
CHOOSE = "short kernels on the candidates, as many for any size; the output is cleared"
RESIDUAL = "the residual is read and written; " + CHOOSE
DITHER = "a random number for each element"
PRODUCTS = "the residual is read and written; products with narrow matrices"
STREAM, OTHER = 5.0, 2.0  # Gelements/s in the cache: of one pass with little arithmetic, of all others
LINES = (
    Line("top-k", "top_k:ratio=0.01" + PLAIN, 4.0, OTHER, CHOOSE),
    Line("top-k", "top_k:ratio=0.001" + PLAIN, 2.6, OTHER, CHOOSE),
    Line("sampled top-k", "dgc:ratio=0.01" + PLAIN, 3.2, OTHER, CHOOSE),
    Line("sampled top-k", "dgc:ratio=0.001" + PLAIN, 2.4, OTHER, CHOOSE),
    Line("fitted threshold", "sidco:ratio=0.01:stages=1" + PLAIN, 3.6, OTHER, CHOOSE),
    Line("fitted threshold", "sidco:ratio=0.001:stages=1" + PLAIN, 3.2, OTHER, CHOOSE),
    Line("fitted threshold, fed back", "sidco:ratio=0.01:stages=adaptive", 6.0, OTHER, RESIDUAL),
    Line("fitted threshold, fed back", "sidco:ratio=0.001:stages=adaptive", 6.0, OTHER, RESIDUAL),
    Line("searched threshold", "redsync:ratio=0.01" + PLAIN, 5.0, OTHER, CHOOSE),
    Line("searched threshold", "gaussian_k:ratio=0.01" + PLAIN, 5.0, OTHER, CHOOSE),
    Line("random entries", "random_k:ratio=0.01" + PLAIN, 2.4, STREAM, "the output is cleared; a random number for each entry"),
    Line("signs", "sign", 3.2, STREAM, "a bit for each element, packed and unpacked"),
    Line("signs", "ef_sign" + PLAIN, 3.2, STREAM, "the mean magnitude of each tensor"),
    Line("signs", "one_bit" + PLAIN, 3.2, OTHER, "the means of both signs of each column: another read"),
    Line("dithering", "qsgd:bits=4", 5.0, OTHER, DITHER),
    Line("dithering", "terngrad", 5.0, OTHER, DITHER),
    Line("powers of two", "natural", 3.6, OTHER, DITHER),
    Line("casts", "fp16", 3.0, STREAM, "a conversion each way"),
    Line("casts", "bf16", 3.0, STREAM, "a conversion each way"),
    Line("low rank, fed back", "powersgd:rank=1", 4.0, OTHER, PRODUCTS),
    Line("low rank, fed back", "powersgd:rank=4", 6.0, OTHER, PRODUCTS),
)


def bar(spec):
    """The most that the pair of a method may take on the large gradient, in reads of it."""
    return next(line.bar for line in LINES if line.spec == spec)


def pairs(record):
    """{(method as typed, elements): row} of compress and decompress together."""
    return {(row["method"], row["elements"]): row for row in record.rows if row.get("phase") == "pair"}


SHOWN = ("fp16", "sign", "qsgd:bits=4", "top_k:ratio=0.01" + PLAIN, "powersgd:rank=4")  # in the table of the answer


def answer(record, large):
    """(how many reads the pairs take, and how many bars they meet; a table of a few methods)"""
    found = {method: row for (method, elements), row in pairs(record).items() if elements == large}
    reads = {line.spec: found[line.spec]["read_limit_ratio"] for line in LINES if line.spec in found}
    low, high = min(reads, key=lambda spec: reads[spec]), max(reads, key=lambda spec: reads[spec])
    return (f"Compress and decompress of {large:,} elements on one thread take as long as {text.number(reads[low])} reads of the "
            f"gradient (`{low}`) to {text.number(reads[high])} (`{high}`). {sum(reads[spec] <= bar(spec) for spec in reads)} of "
            f"{len(reads)} methods meet the bar that was set for them.",
            (["method", "reads", "ms", "bar"],
             [[f"`{spec}`", text.number(reads[spec]), text.number(found[spec]["time_ms"]["median"]), text.number(bar(spec))]
              for spec in SHOWN]))


def _rate(row):
    return text.DASH if row is None else text.number(row["elements_per_second"] / 1e6)


def _nmse(row):
    return text.number(row["nmse"]) if row else text.DASH


def _verdict(holds):
    return text.DASH if holds is None else "holds" if holds else "missed"


def table(record, large, small):
    """A line per method: the bar, the measured pair on `large` elements with its error, the rates of the pair at both sizes
    with the bar of the small one, and the work that takes the time if the bar is missed."""
    found, lines = pairs(record), []
    for line in LINES:
        big, little = found.get((line.spec, large)), found.get((line.spec, small))
        measured = None if big is None else big["read_limit_ratio"]
        fast = None if little is None else little["elements_per_second"] >= line.cached * 1e9
        lines.append([line.family, f"`{line.spec}`", text.ratio(line.bar), text.ratio(measured),
                      _verdict(None if measured is None else measured <= line.bar), _nmse(big), _rate(big), _rate(little),
                      text.number(line.cached * 1e3), _verdict(fast), line.work if fast is False else "", _nmse(little)])
    return ["family", "method", "bar", f"pair, {large:,}", "", "NMSE", f"Melements/s, {large:,}", f"Melements/s, {small:,}",
            "bar in the cache", "", "in the way", "NMSE"], lines


def cost_of_copy(record, elements):
    """What one thread takes to copy the gradient, in a sentence."""
    rates = {row["operation"]: row["gb_per_second"] for row in record.rows if row.get("elements") == elements}
    return (f"Here a copy takes as long as {text.number(2 * rates['read'] / rates['copy'])} reads; a cast there and back moves one "
            "and a half times the bytes of a copy.")


def card(records):
    """The limits of the machine from [(threads, record of --machine)], a line per limit and number of elements."""
    cells = {}
    for threads, record in records:
        for row in record.rows:
            if row["operation"] in ("read", "copy", "triad"):
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
