"""Reports on gradcomp result files: load, tabulate, plot, render."""
import os

# What this process may use, noted before matplotlib loads an OpenMP runtime, which under OMP_PROC_BIND ties it, and so
# every program that it starts, to the first core.
CPUS = os.sched_getaffinity(0)
