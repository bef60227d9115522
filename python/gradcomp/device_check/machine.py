"""What the programs do not report: the commit, and the driver of the device."""
import shutil
import subprocess

NVIDIA = ("nvidia-smi", "--query-gpu=name,driver_version,memory.total,power.limit,clocks.max.sm,clocks.max.mem",
          "--format=csv,noheader")
AMD = ("rocm-smi", "--showproductname", "--showdriverversion", "--csv")


def _said(words, folder=None):
    """The output of a program, or None."""
    if not shutil.which(words[0]):
        return None
    try:
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def commit(root):
    """{"git_hash", "git_dirty"}; None if the sources are not a git checkout."""
    status = _said(("git", "status", "--porcelain"), root)
    return {"git_hash": _said(("git", "rev-parse", "HEAD"), root), "git_dirty": None if status is None else bool(status)}


def driver(preset):
    """The output of the vendor's tool; empty on hosts, and if the tool is missing."""
    said = _said({"cuda": NVIDIA, "hip": AMD}[preset]) if preset in ("cuda", "hip") else None
    return [line.strip() for line in said.splitlines() if line.strip()] if said else []
