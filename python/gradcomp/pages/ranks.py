"""Starts the ranks of the pages' jobs: over shared memory, and over links that the kernel shapes."""
CORES = 2  # cores of the machine for which the page is made
TINY = ("--data", "shapetex10:train=64:test=32", "--batch", 4)


def slower(ranks):
    """How many ranks share a core, that is, by which factor they are slower."""
    return max(1, ranks // CORES)


def memory(ranks):
    """The words before a program whose ranks communicate through shared memory, with one thread each."""
    # A rank has a thread that communicates and one that computes: a thread that waits in MPI yields the core.
    idle = ("OMPI_MCA_mpi_yield_when_idle=1", "KOKKOS_DISABLE_WARNINGS=1") if ranks > 1 else ()
    many = ("mpirun", "-n", ranks) if ranks > 1 else ()
    return ("env", "OMP_NUM_THREADS=1", "OMP_PROC_BIND=false", *idle, *many)


def asked(ranks, rate):
    """The rate that is set in the kernel: if ranks share cores and compute slower, links are slower by the same factor."""
    return f"{rate / slower(ranks):g}mbit"


def shaped(ranks, rate):
    """The words before a program whose ranks, with one thread each, communicate over links of `rate` Mbit/s."""
    return ("tools/shaped-links", "--nodes", ranks, "--threads", 1, "--rate", asked(ranks, rate), "--")


def sharing(ranks, rate):
    """A sentence on shared cores; empty if every rank has its own core."""
    several = slower(ranks)
    return "" if several == 1 else (f" {several} ranks share a core and compute {several} times slower, so the links have "
                                    f"1 / {several} of the rate: {asked(ranks, rate).removesuffix('mbit')} Mbit/s.")


def rows_of(record):
    """{label: row}"""
    return {row["label"]: row for row in record.rows}


def seeds_of(record):
    """({label: rows of its seeds}, {label: the row over all seeds})"""
    seeds, totals = {}, {}
    for row in record.rows:
        if row["run_type"] == "iteration":
            seeds.setdefault(row["label"], []).append(row)
        else:
            totals[row["label"]] = row
    return seeds, totals
