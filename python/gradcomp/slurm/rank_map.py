"""Reads the output of slurm/rank_map, one line per rank, and says which ranks share cores or devices."""
import re
from collections import defaultdict

LINE = re.compile(r"^rank_map ([0-9]+) (\S+) (\S+) (\S+) ([0-9]{1,6}(?:[-,][0-9]{1,6})*)$", re.MULTILINE)
HEADER = ("rank", "local", "host", "device", "cpus")


def cpus_of(mask):
    """{0, 1, 4} for '0-1,4', the kernel's notation of a CPU mask."""
    found = set()
    for part in filter(None, mask.split(",")):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def read(said):
    """[(rank, local rank, host, device, mask)] by rank. Other lines (of MPI, banners) are skipped."""
    return sorted((int(rank), *others) for rank, *others in LINE.findall(said))


def warnings(rows):
    """Warnings: one line for each host and kind of shared resource."""
    hosts, found = defaultdict(list), []
    for rank, _, host, device, mask in rows:
        hosts[host].append((rank, device, mask))
    for host, ranks in hosts.items():
        masks = [(rank, cpus_of(mask)) for rank, _, mask in ranks]
        sharing = sorted({r for i, (a, x) in enumerate(masks) for b, y in masks[i + 1:] if x & y for r in (a, b)})
        if sharing:
            found.append(f"warning: on {host} the ranks {', '.join(map(str, sharing))} share cores: bind them in LAUNCHER, "
                         "or set CPUS_PER_RANK and RANKS_PER_NODE so that they fit")
        devices = defaultdict(list)
        for rank, device, _ in ranks:
            if device != "-":
                devices[device].append(rank)
        for device, users in devices.items():
            if len(users) > 1:
                found.append(f"warning: on {host} the ranks {', '.join(map(str, users))} share the device {device}: "
                             "RANKS_PER_NODE is larger than the number of visible devices")
    return found


def text(said, ranks, devices_wanted):
    """The map as a table, and its warnings."""
    rows = read(said)
    if len(rows) != ranks or len({row[0] for row in rows}) != ranks:
        return f"rank_map: warning: {len(rows)} of {ranks} ranks answered: LAUNCHER does not start the ranks as asked"
    cells = [HEADER, *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(HEADER))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    found = warnings(rows)
    if devices_wanted and any(row[3] == "-" for row in rows):
        found.append("warning: some ranks see no device: check --gpus-per-node, --gpu-bind=none and the driver")
    return "\n".join(f"rank_map: {line}" for line in lines + found)
