"""The page on the sparsifiers: tables from the result files of gradcomp-evaluate, one file per target density."""
from gradcomp.output import text

from .quantisers_tables import both_in_reads, sent_whole

WHOLE = "sent whole"
LOOPS = {"open": "", "closed": ", loop", "training": ", loop"}


def rows_by_method(record, specs):
    """{(name of the table's line, stream): row}; `specs` maps specs as typed to those names."""
    return {(specs[row["method"]], row["stream"]): row for row in record.rows}


def streams(record):
    """(stream, its heading) in the order of the file."""
    return list(dict.fromkeys((row["stream"], row["stream"] + LOOPS[row["loop"]]) for row in record.rows))


def _ratio(row, infix=""):
    """The mean; with several samples also the deviation, and the root mean square of ratio - 1."""
    if sent_whole(row):
        return WHOLE
    mean, std, rms = (row.get(f"density_ratio{infix}_{name}") for name in ("mean", "std", "rms"))
    if mean is None:
        return text.DASH
    if row["steps"] == 1:
        return text.number(mean)
    return f"{text.number(mean)} \N{PLUS-MINUS SIGN} {text.number(std, 2)} ({text.number(rms, 2)})"


def density(record, specs, names):
    """Achieved / target density: a line per method, a column per stream; for loops also over their second half."""
    by_method, header, columns = rows_by_method(record, specs), ["method"], []
    for stream, heading in streams(record):
        steps = next(row["steps"] for row in record.rows if row["stream"] == stream)
        columns.append((stream, ""))
        header.append(heading if steps == 1 else f"{heading} ({steps})")
        if heading != stream:
            columns.append((stream, "_late"))
            header.append(f"{heading}, last half")
    return header, [[f"`{name}`"] + [_ratio(by_method[name, stream], infix) for stream, infix in columns]
                    for name in names]


def quality(record, specs, names):
    """Relative L2 error of the decoded gradient: a line per method, a column per stream."""
    by_method = rows_by_method(record, specs)
    found = streams(record)
    return (["method"] + [heading for _, heading in found],
            [[f"`{name}`"] + [WHOLE if sent_whole(row) else text.number(row["relative_l2_error"])
                              for row in (by_method[name, stream] for stream, _ in found)] for name in names])


NEAR = 0.1  # the answer counts methods whose mean density in the loop differs from the target by at most this part


def answer(records, names, target, timed):
    """(how many methods keep near to every target in the loop; the densities, errors and times of a few at `target`). `records`:
    {target: (record, specs)}; `timed`: the gradient of the times."""
    loop = {one: {specs[row["method"]]: row for row in record.rows if LOOPS[row["loop"]]} for one, (record, specs) in records.items()}
    near = [name for name in names if all(abs(rows[name]["density_ratio_mean"] - 1) <= NEAR for rows in loop.values())]
    once, lines = rows_by_method(*records[target]), []
    for name in ("top_k", "dgc", "sidco:sid=exponential", "redsync", "gaussian_k"):
        row, trained = once[name, timed], loop[target][name]
        lines.append([f"`{name}`", text.number(trained["density_ratio_mean"]), text.number(trained["relative_l2_error"]),
                      text.ratio(both_in_reads(row))])
    far = ", ".join(f"`{name}`" for name in names if name not in near)
    return (f"In a training with their memory, {len(near)} of {len(names)} sparsifiers send in the mean what they were asked to, within "
            f"{100 * NEAR:.0f} % at each target ({', '.join(records)}).{f' Not: {far}.' if far else ''} At target {target}:",
            (["method", "achieved / target density", "relative error", "time, in reads of a gradient"], lines))


def kept_in_loop(record, method):
    """The share of the elements that a method kept in the loop with feedback."""
    return next(row["achieved_density"] for row in record.rows if row["method"] == method and LOOPS[row["loop"]])


def _per_target(records, names, headings, cell):
    """A line per method; for each target and stream one column."""
    header, columns = ["method"], []
    for target, (record, specs) in records.items():
        by_method = rows_by_method(record, specs)
        for stream, heading in streams(record):
            if stream in headings:
                header.append(f"{heading}, {target}")
                columns.append((by_method, stream))
    return header, [[f"`{name}`"] + [cell(by_method[name, stream]) for by_method, stream in columns] for name in names]


def times(records, names, headings):
    """Time to compress, and to decompress, as multiples of one read of the gradient, and the error."""
    def cell(row):
        read, error = row["read_limit_ms"], row["relative_l2_error"]
        return (f"{text.ratio(row['read_limit_ratio'])} + {text.ratio(row['decompress_ms'] / read if read else None)} "
                f"(NMSE {text.number(None if error is None else error**2, 2)})")
    return _per_target(records, names, headings, cell)


def bits(records, names, headings):
    """Payload bits per kept entry, and the bits that the indices alone need."""
    return _per_target(records, names, headings, lambda row: f"{text.number(row.get('payload_bits_per_kept'))} / "
                                                             f"{text.number(row.get('entropy_bits_per_kept'))}")


def without_target(record, specs, names):
    """Methods whose density follows from the gradient: the density that they kept."""
    by_method = rows_by_method(record, specs)
    found = streams(record)
    return (["method"] + [heading for _, heading in found],
            [[f"`{name}`"] + [text.number(by_method[name, stream].get("achieved_density")) for stream, _ in found]
             for name in names])
