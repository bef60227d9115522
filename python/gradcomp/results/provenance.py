"""Says from what and where a result was made."""

MOST_OF_RATE = 1.05  # more bytes a second, over the rate of a shaped link, are none that the link carried


def machines(records):
    """What ran where, with a part for each machine and build."""
    found = {}
    for record in records:
        known = record.gradcomp
        start = f"{processor(record)}, {record.context['num_cpus']} CPUs, threads: "
        end = f"; {known['compiler']}, Kokkos {known['kokkos_version']} ({known['kokkos_backend']}); {commit(record)}, "
        threads, days = found.setdefault((start, end), (set(), set()))
        threads.add(known["threads"])
        days.add(record.context["date"][:10])
    return "; and ".join(start + ", ".join(map(str, sorted(threads))) + end + " to ".join(sorted({min(days), max(days)}))
                         for (start, end), (threads, days) in found.items()) + "."


def processor(record):
    """The CPU model with its caches and the kernels that OpenBLAS chose: machines of one name may differ in these."""
    known, sizes = record.gradcomp, {}
    for cache in record.context.get("caches", ()):  # older files lack them
        if cache["type"] != "Instruction" and cache["level"] <= 2:
            sizes.setdefault(cache["level"], f"L{cache['level']} {cache['size'] // 1024:,} KiB")
    about = [sizes[level] for level in sorted(sizes)]
    about += [f"OpenBLAS core {known['openblas_core']}"] if known["openblas_core"] else []
    return known["cpu_model"] + (f" ({', '.join(about)})" if about else "")


def commit(record):
    """The commit that was built."""
    known = record.gradcomp
    return f"commit {known['git_hash'][:12]}{' with changes' if known['git_dirty'] else ''}"


def machine(record):
    """One sentence on what ran where."""
    known = record.gradcomp
    return (f"{processor(record)}, {record.context['num_cpus']} CPUs, threads: {known['threads']}; {known['compiler']}, "
            f"Kokkos {known['kokkos_version']} ({known['kokkos_backend']}); {commit(record)}, {record.context['date'][:10]}.")


def too_fast(record):
    """Labels whose bytes over the time of the exchange exceed the rate of a shaped link: the bucket of the link held their message,
    so the exchange cost less than over a real link."""
    link = record.gradcomp["link"]
    if link["kind"] != "shaped":
        return []
    most = MOST_OF_RATE * link["rate_mbit_s"] * 1e3  # bits per millisecond
    return list(dict.fromkeys(row["label"] for row in record.rows if row.get("stages_ms", {}).get("exchange")
                              and 8 * row["wire_bytes"] / row["stages_ms"]["exchange"] > most))
