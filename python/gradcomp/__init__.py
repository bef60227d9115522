"""gradcomp in Python: what reads results, judges builds by them, and writes reports and pages (docs/python.md)."""
import os

# What this process may use, noted before matplotlib loads an OpenMP runtime, which under OMP_PROC_BIND ties it, and so
# every program that it starts, to the first core.
CPUS = os.sched_getaffinity(0)
