"""How the jobs of pages start their ranks: over shared memory, and over links that the kernel shapes."""
CORES = 2  # that the page is made for
TINY = ("--data", "shapetex10:train=64:test=32", "--batch", 4)


def slower(ranks):
    """How many ranks share a core, so by how much they are slower."""
    return max(1, ranks // CORES)


def memory(ranks):
    """The words before a program whose ranks meet in shared memory, one thread each."""
    # A rank has a thread that communicates beside the one that computes: who waits in MPI leaves the core to who computes.
    idle = ("OMPI_MCA_mpi_yield_when_idle=1", "KOKKOS_DISABLE_WARNINGS=1") if ranks > 1 else ()
    many = ("mpirun", "-n", ranks) if ranks > 1 else ()
    return ("env", "OMP_NUM_THREADS=1", "OMP_PROC_BIND=false", *idle, *many)


def asked(ranks, rate):
    """The rate that the kernel is asked for: where ranks share a core and compute slower, links are slower by as much."""
    return f"{rate / slower(ranks):g}mbit"


def shaped(ranks, rate):
    """The words before a program whose ranks, one thread each, meet over links of `rate` Mbit/s."""
    return ("tools/shaped-links", "--nodes", ranks, "--threads", 1, "--rate", asked(ranks, rate), "--")


def sharing(ranks, rate):
    """A sentence on that, empty where every rank has its core."""
    several = slower(ranks)
    return "" if several == 1 else (f" {several} ranks share a core and compute {several} times slower, so the links have "
                                    f"1 / {several} of the rate: {asked(ranks, rate).removesuffix('mbit')} Mbit/s.")


def rows_of(record):
    """{label: row}"""
    return {row["label"]: row for row in record.rows}


def seeds_of(record):
    """({label: rows of its seeds}, {label: the row over them})"""
    seeds, totals = {}, {}
    for row in record.rows:
        if row["run_type"] == "iteration":
            seeds.setdefault(row["label"], []).append(row)
        else:
            totals[row["label"]] = row
    return seeds, totals
