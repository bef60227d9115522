"""The page on quantisers, low-rank methods, sketches and hybrids: tables from result files of gradcomp-evaluate and
gradcomp-methods --describe."""
from gradcomp.output import text


def rows(record):
    """{(method as typed, stream): row}"""
    return {(row["method"], row["stream"]): row for row in record.rows}


def quality(records, names):
    """A line per method: bits, error, bias and contraction for each stream of the records."""
    by_method = {key: row for record in records for key, row in rows(record).items()}
    streams = list(dict.fromkeys(stream for _, stream in by_method))
    header = ["method"]
    for stream in streams:
        header += [f"{stream}: bits / element", "relative error", "bias", "bias z", "contraction"]
    lines = []
    for name in names:
        cells = [f"`{name}`"]
        for stream in streams:
            row = by_method.get((name, stream), {})
            cells += [text.number(row.get("payload_bits_per_element")), text.number(row.get("relative_l2_error")),
                      text.number(row.get("bias"), 2), text.number(row.get("bias_z"), 2),
                      text.number(row.get("contraction"))]
        lines.append(cells)
    return header, lines


def sent_whole(row):
    """Whether the method sent the gradient uncompressed."""
    return row["payload_bytes"] >= row["dense_bytes"] and not row["relative_l2_error"]


def in_reads(row, column):
    """A time of a row as a multiple of one read of its gradient."""
    limit = row.get("read_limit_ms")
    return row[column] / limit if limit else None


def both_in_reads(row):
    """Compress and decompress together as in_reads()."""
    compress, decompress = in_reads(row, "compress_ms"), in_reads(row, "decompress_ms")
    return None if compress is None else compress + decompress


def nmse(row):
    """Squared distance of the decoded values from what the compressor saw, divided by the square of the latter; None if not
    known."""
    error = row["relative_l2_error"]
    return None if error is None else error**2


def answer(real, timed, sizes=(1, 2, 4, 8)):
    """(a sentence, the method with the least error of one gradient of a training among those that send so many bits per element,
    rounded). `real`: the record of that gradient; `timed`: the record of times."""
    reads = {row["method"]: both_in_reads(row) for row in timed.rows}
    lines = []
    for size in sizes:
        sending = [row for row in real.rows if round(row["payload_bits_per_element"]) == size]
        if sending:
            best = min(sending, key=lambda row: row["relative_l2_error"])
            lines.append([f"{size}", f"`{best['method']}`", text.number(best["relative_l2_error"]), text.ratio(reads[best["method"]])])
    return ("Of the methods that send so many bits per element (rounded), these have the least error of one gradient of a training. "
            "That is no promise for a whole training. *Time*: compress and decompress, in reads of a large gradient by one thread.",
            (["bits", "method", "relative error", "time"], lines))


WHOLE = " (sends this gradient whole)"


def times(parts):
    """A line per method from [(record, names)]: bits per element, compress, decompress and both as multiples of one read, and the
    error. A method that sent every element with 32 bits is marked: its times are those of a copy."""
    lines = []
    for record, names in parts:
        for name in names:
            for row in (row for row in record.rows if row["method"] == name):
                lines.append([f"`{name}`{WHOLE if sent_whole(row) else ''}", row["stream"], f"{row['elements']:,}",
                              text.number(row.get("payload_bits_per_element")),
                              *map(text.ratio, (in_reads(row, "compress_ms"), in_reads(row, "decompress_ms"), both_in_reads(row))),
                              text.number(nmse(row))])
    return ["method", "gradient", "elements", "bits / element", "compress", "decompress", "both", "NMSE"], lines


def payloads(records):
    """Bytes of one step from {model: record of --describe}: a line per method, a column per model."""
    labels = list(dict.fromkeys(row["label"] for record in records.values() for row in record.rows))
    lines = []
    for label in labels:
        cells = [f"`{label}`"]
        for record in records.values():
            row = next((row for row in record.rows if row["label"] == label), None)
            cells.append(text.DASH if row is None else f"{row['payload_bytes']:,.0f}")
        lines.append(cells)
    return ["method", *(f"{model}, bytes a step" for model in records)], lines
