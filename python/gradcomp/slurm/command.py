"""The command lines of a point and the environment of its ranks."""
from .keys import KEYS, TRAIN, TUNE

CHECKPOINT_EVERY = 100  # steps
RESULTS = ("seed", "seeds", "block", "evaluate_every", "quality_tolerance", "target")  # keys that mean nothing to gradcomp-tune


def has_checkpoint(folder):
    """Whether a training has written a checkpoint: --resume refuses a folder without one."""
    return any((folder / "checkpoints").glob("seed*/checkpoint.json"))


def _shown(options):
    return [word for key, value in options.items() for word in (KEYS[key].option, str(value))]


def commands(point, folder):
    """The programs with their options, in order; the last one writes the result. `folder` is that of the point, which gets bucket
    sizes, checkpoints and the result."""
    options = dict(point["options"])
    every = options.pop("checkpoint_every", CHECKPOINT_EVERY)
    before = []
    if options.pop("sweep_buckets", False):
        options["rates"] = folder / "rates.json"
        before = [[TUNE, "--buckets-only", *_shown({key: value for key, value in options.items() if key not in RESULTS})]]
    found = [point["program"], *_shown(options)]
    if point["program"] == TRAIN and every:
        found += ["--checkpoint", str(folder / "checkpoints"), "--checkpoint-every", str(every)]
        if has_checkpoint(folder):
            found += ["--resume", str(folder / "checkpoints")]
    return [*before, [*found, "--output", str(folder / "out.json")]]


def environment(system):
    """Variables that bind threads and choose devices. A site can change them in SETUP."""
    chosen = {"OMP_NUM_THREADS": str(system.threads), "OPENBLAS_NUM_THREADS": "1",
              "SRUN_CPUS_PER_TASK": system["CPUS_PER_RANK"]}  # since Slurm 22.05 srun does not inherit --cpus-per-task
    if system.number("GPUS_PER_NODE"):
        # Device = local rank modulo visible devices. The host computes little: unbound threads leave room for those of MPI and NCCL.
        chosen |= {"KOKKOS_MAP_DEVICE_ID_BY": "mpi_rank", "OMP_PROC_BIND": "false"}
    elif system["BINDING"] == "cores":
        chosen |= {"OMP_PROC_BIND": "spread", "OMP_PLACES": "cores"}
    else:
        chosen |= {"OMP_PROC_BIND": "false"}  # without binding, all ranks would take the same first cores
    return chosen
