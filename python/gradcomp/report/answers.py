"""Does compression pay here, and which method? In words: one sentence for a report, and sentences for each training."""
from gradcomp.output import text
from gradcomp.results.reading import of_program

from .verdicts import MISSED, OPEN, is_faster, shown, trained

PAYS, NONE, UNTOLD, UNKNOWN = "pays", "none", "untold", "unknown"


def _told(gains):
    """(PAYS, UNTOLD or NONE, the pairs that show it), from [(label, gain())] of the methods whose speed-up is known. It pays if a whole
    interval is above 1. Without an interval, a speed-up above 1 tells nothing."""
    ordered = sorted(gains, key=lambda pair: -pair[1]["mean"])
    if ordered[0][1]["low"] is None:
        return (UNTOLD if ordered[0][1]["mean"] > 1 else NONE), ordered[:1]
    faster = [pair for pair in ordered if is_faster(pair[1])]
    if faster:
        return PAYS, faster
    return (NONE if all((gain["high"] or gain["mean"]) < 1 for _, gain in gains) else UNTOLD), ordered[:1]


def _sentence(gains):
    """What _told() says of one run, or of several that say the same."""
    told, pairs = _told(gains)
    label, largest = pairs[0]
    of = "1 method" if len(gains) == 1 else f"{len(gains)} methods"
    if largest["low"] is None:
        if told == NONE:
            return (f"none pays here. Of {of} at the quality of fp32, none is faster than the best dense control: at most "
                    f"{text.ratio(largest['mean'])}, of {label} (one seed, no interval).")
        return (f"not told, because one seed has no interval. Of {of} at the quality of fp32, {label} has the largest speed-up against "
                f"the best dense control: {text.ratio(largest['mean'])}.")
    if told == PAYS:
        listed = ", ".join(f"{name} {shown(gain)}" for name, gain in pairs)
        return ("compression pays, because the whole 95 % interval of the speed-up against the best dense control is above 1 for: "
                f"{listed}. {of} at the quality of fp32 compared; intervals are corrected for the number of methods of the job.")
    if told == NONE:
        return ("none pays here. All methods at the quality of fp32 are slower than the best dense control with their whole 95 % "
                f"interval. The largest mean is {shown(largest)}, of {label}.")
    return ("not told apart. No method at the quality of fp32 is faster than the best dense control with its whole 95 % interval. "
            f"The largest mean is {shown(largest)}, of {label}.")


def _cases(record):
    """(cases, why there are none). A case is (rate of one of several emulated links in Mbit/s or None, [(label, gain())])."""
    methods = trained(record)
    compressing = [one for one in methods if one.compresses]
    matched = [one for one in compressing if one.matched]
    if not all(one.tells for one in methods):
        return [], "ranks that never exchange (no_exchange) are not clearly worse than fp32"
    for one in methods:
        if one.rows[0]["method"] == "fp32" and not one.matched:
            return [], f"fp32 itself {one.diverged or 'learned too little or missed the target'}"
    if not matched:
        return [], "no compressing method reached the quality of fp32 for certain"
    rates = [rate for rate, _, _ in matched[0].links()]
    found = [(rate, [(one.label, one.links()[place][2]) for one in matched]) for place, rate in enumerate(rates)]
    found = found or [(None, [(one.label, one.gain()) for one in matched])]
    found = [(rate, known) for rate, gains in found if (known := [pair for pair in gains if pair[1]])]
    return found, "" if found else "that needs fp32, fp16 and bf16 at their best bucket sizes (gradcomp-tune)"


def _link(record, rates):
    """The link of a run in words, or those of its several links that have the `rates`."""
    return record.link if rates == [None] else record.link_of(f"{text.listed([text.number(rate) for rate in rates])} Mbit/s")


def _merged(said):
    """Words of [(label, what is said of it)]; labels of which the same is said stand together."""
    groups = {}
    for label, words in said:
        groups.setdefault(words, []).append(label)
    return "; ".join(f"{text.listed(labels)}{':' if len(labels) > 1 else ''} {words}" for words, labels in groups.items())


def findings(record):
    """Sentences that answer the question of a training: does compression pay? What would be said twice is said once."""
    cases, unknown = _cases(record)
    if unknown:
        return [f"{record.link}: this run cannot tell whether compression pays, because {unknown}."]
    groups = {}
    for rate, gains in cases:  # what pays has figures of its own at each rate
        told, _ = _told(gains)
        groups.setdefault((told, rate if told == PAYS else None), []).append((rate, gains))
    out = []
    for group in groups.values():
        _, largest = max(group, key=lambda case: max(gain["mean"] for _, gain in case[1]))
        out.append(f"{_link(record, [rate for rate, _ in group])}: {_sentence(largest)}")
    compressing = [one for one in trained(record) if one.compresses]
    answers = _merged((one.label, words) for one in compressing if one.matched and (words := one.pays()) != text.DASH)
    if answers:
        out.append(f"Against the best dense control: {answers}.")
    for word, said in ((OPEN, "It is open whether these have the quality of fp32"), (MISSED, "Missed the quality of fp32")):
        labels = [one.label for one in compressing if one.quality() == word]
        if labels:
            out.append(f"{said}, so no speed-up is shown: {', '.join(labels)}.")
    elsewhere = next((row["bucket_sweep"] for row in record.rows if "bucket_sweep" in row), None)
    if elsewhere:
        out.append(f"Bucket sizes of the dense controls were timed elsewhere ({elsewhere}); others may be faster here.")
    diverged = _merged((one.label, one.diverged) for one in compressing if one.diverged)
    return out + ([f"{diverged}."] if diverged else [])


def crossovers(link, found):
    """Sentences on the sizes of gradients from which on methods are faster in the reduction alone, of frames.crossovers()."""
    return [f"{link}: {_merged((label, text.crossover(at)) for label, at in found.items())}."] if found else []


def about(record):
    """What a training trained, in words: the model and the kind of data."""
    known = record.gradcomp["options"] | trained(record)[0].rows[0]
    return " on ".join(str(known[key]).split(":")[0] for key in ("model", "data") if key in known)


def answer(records):
    """The sentence with which a report begins: does compression pay on this machine, with which method, and which runs cannot tell?"""
    runs = [record for record in of_program(records, "gradcomp-train") if trained(record)]
    if not runs:
        return "Nothing here says whether compression pays, because there is no training among these results."
    found = {}  # {(told, which methods pay, or why nothing is told): [(run in words, its [(label, gain)])]}
    for record in runs:
        cases, unknown = _cases(record)
        groups = {}
        if unknown:
            groups[UNKNOWN, unknown] = [None], []
        for rate, gains in cases:
            told, pairs = _told(gains)
            alone = pairs[0][1]["low"] is None
            rates, known = groups.setdefault((told, tuple(label for label, _ in pairs) if told == PAYS else alone), ([], []))
            rates.append(rate)
            known += pairs
        same = [other for other in runs if (about(other), other.link) == (about(record), record.link)]
        for key, (rates, known) in groups.items():
            name = f"{about(record)} over {_link(record, rates)}{f' in {record.path.name}' if len(same) > 1 else ''}"
            found.setdefault(key, []).append((name, known))

    def most(of, label=None):
        return text.ratio(max(gain["mean"] for _, known in of for name, gain in known if label in (None, name)))

    def words(key, of):
        (told, more), listed = key, text.listed([name for name, _ in of])
        if told == PAYS:
            return f"with {text.listed([f'{label} ({most(of, label)})' for label in more])} for {listed}"
        if told == NONE:
            return f"for {listed} (at most {most(of)} the speed of the best dense{', one seed, no interval' if more else ''})"
        if told == UNTOLD:
            why = "one seed has no interval" if more else "no whole interval is above 1"
            more = f"{why} (at most {most(of)} the speed of the best dense)"
        return f"{listed}, because {more}"
    parts = []
    silent = [name for key, of in found.items() if key[0] in (UNTOLD, UNKNOWN) for name, _ in of]
    cannot = "this run cannot tell: " if len(silent) == 1 else "these runs cannot tell: "
    for begin, kinds, between in (("compression pays here ", [PAYS], ", and "), ("none pays here ", [NONE], ", and "),
                                  (cannot, [UNTOLD, UNKNOWN], "; ")):
        some = [words(key, of) for key, of in found.items() if key[0] in kinds]
        parts += [begin + between.join(some)] if some else []
    said = "; ".join(parts)
    return f"{said[0].upper()}{said[1:]}."
