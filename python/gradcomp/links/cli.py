"""The command line of shaped-links."""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from gradcomp.errors import ToolError
from gradcomp.guarded import child, guarded
from gradcomp.output.files import write_whole
from gradcomp.places import words_of

from . import rate

NAMESPACES = ["unshare", "--mount", "--uts", "--net", "--pid", "--fork", "--kill-child", "--propagation", "private"]
NEEDED = ("unshare", "nsenter", "ip", "tc", "mpirun")
MOST_NODES = 64
EPILOG = """Nodes are network namespaces of this machine. Each has one link to a switch; a token bucket at both ends of the link
limits what the node sends and receives. All nodes and links disappear when the command ends, for any reason. The exit status is
that of the job; 2: bad input, or the links do not carry the rate; 130: interrupted. The tool needs root, iproute2 and Open MPI
5. Run it inside the toolchain: ./run exec -- tools/shaped-links ..."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors have one line."""

    def error(self, message):
        raise ToolError(message)


def _count(least, most):
    def parse(word):
        if not word.isdecimal() or not least <= int(word) <= most:
            raise argparse.ArgumentTypeError(f"'{word}' is not allowed; allowed: {least} to {most}")
        return int(word)
    return parse


def parse(arguments):
    """Parses the options. Throws ToolError."""
    parser = Parser(prog="shaped-links", usage="shaped-links --rate RATE [OPTIONS] -- COMMAND...", epilog=EPILOG,
                    description="Runs an MPI program on nodes of this machine that are joined by shaped links.")
    parser.add_argument("--nodes", type=_count(2, MOST_NODES), default=2, metavar="N", help="number of nodes (default: %(default)s)")
    parser.add_argument("--rate", required=True, help="rate of each link in each direction: 100mbit, 1gbit, ...")
    parser.add_argument("--ranks-per-node", type=_count(1, 64), default=1, metavar="N", help="ranks per node (default: %(default)s)")
    parser.add_argument("--threads", type=_count(1, 1024), metavar="N", help="threads of each rank (default: cores / ranks, at "
                        "least 1)")
    parser.add_argument("--report", type=pathlib.Path, metavar="FILE", help="write the bytes that each node has sent to this "
                        "file, as JSON")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND", help="a program with its options, without mpirun")
    options = parser.parse_args(arguments)
    options.command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not options.command:
        raise ToolError("no command: shaped-links --rate 100mbit -- gradcomp-train ...")
    options.rate = rate.parse(options.rate)
    if options.report and not options.report.resolve().parent.is_dir():
        raise ToolError(f"cannot write '{options.report}': its folder is missing")
    return options


def why_not():
    """The reason why links cannot be made here, or None."""
    missing = [name for name in NEEDED if not shutil.which(name)]
    if missing:
        return f"{', '.join(missing)} missing: start with ./run exec -- tools/shaped-links"
    if os.geteuid() != 0 or subprocess.run([*NAMESPACES, "true"], capture_output=True, check=False).returncode:
        return "links need root and the right to make namespaces"
    said = subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=False).stdout.splitlines()[:1]
    return None if said and "Open MPI) 5" in said[0] else "mpirun is not from Open MPI 5, whose settings the links need"


def _work(arguments):
    options = parse(arguments)
    reason = why_not()
    if reason:
        raise ToolError(reason)
    if not shutil.which(options.command[0]):
        raise ToolError(f"there is no command '{options.command[0]}'; ./run build openmp builds the programs")
    job = {"nodes": options.nodes, "bits": options.rate.bits, "ranks_per_node": options.ranks_per_node,
           "threads": options.threads, "command": [str(shutil.which(options.command[0])), *options.command[1:]]}
    with tempfile.TemporaryFile("w+", encoding="utf-8") as report:
        words = [*NAMESPACES, *words_of("gradcomp.links.inside"), json.dumps(job), str(report.fileno())]
        with child(words, pass_fds=[report.fileno()]) as process:
            status = process.wait()
        report.seek(0)
        found = report.read()
    if found and options.report:
        write_whole(options.report, json.dumps(json.loads(found) | {"command": options.command}, indent=1) + "\n")
    if found:
        print(f"shaped-links: token buckets of {json.loads(found)['bucket']}", file=sys.stderr)
    for link in json.loads(found)["links"] if found else ():
        print(f"shaped-links: {link['node']} sent {link['sent_bytes']:,} bytes in {link['sent_packets']:,} packets, "
              f"{link['payload_bytes']:,} without their headers", file=sys.stderr)
    return status


def main(arguments=None):
    """Runs the command over shaped links and returns its exit status."""
    return guarded("shaped-links", lambda: _work(arguments))
