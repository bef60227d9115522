"""The part that runs in namespaces of its own: makes the nodes, measures a link, runs the job and counts the bytes sent."""
import json
import os
import pathlib
import re
import subprocess
import sys

from gradcomp.errors import ToolError

from .rate import Rate

HERE = pathlib.Path(__file__).resolve().parent
AGENT = "/run/gradcomp/agent"  # where the script `make` has put it
FRAME = 66  # bytes of Ethernet, IP and TCP headers in every packet, with time stamps
LOWEST, HIGHEST = 0.80, 1.05  # measured / requested rate


def _run(words):
    """Runs a command. Throws ToolError with the last line of its output if it fails."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr.strip() or "it says nothing").splitlines()[-1]
        raise ToolError(f"cannot make the links: {words[0]}: {said}")
    return done.stdout


def _on(node):
    return ["nsenter", f"--net=/run/netns/{node}"]


def require_rate(found, rate):
    """Throws ToolError unless a link reaches the requested rate; headers take 5 %."""
    if not LOWEST <= found / rate.bits <= HIGHEST:
        raise ToolError(f"the links carry {found / 1e6:.3g} Mbit/s where {rate.bits / 1e6:g} were asked for: this machine is "
                          "too slow for that rate, or something else keeps it busy")


def calibrate(seconds=1.0):
    """Bits per second from n1 to n2."""
    script = [sys.executable, str(HERE / "calibrate.py")]
    with subprocess.Popen([*_on("n2"), *script, "receive", "10.77.0.2", "0"], stdout=subprocess.PIPE, text=True) as receiver:
        assert receiver.stdout
        receiver.stdout.readline()
        _run([*_on("n1"), *script, "send", "10.77.0.2", str(seconds)])
        return float(receiver.stdout.readline() or 0)


def shape(rate, nodes):
    """Gives the links the smallest bucket with which they carry the rate. Returns (bucket, bits per second). Throws ToolError if
    no bucket is large enough."""
    for words in rate.choices:
        _run(["bash", str(HERE / "shape"), str(nodes), *words])
        found = calibrate()
        if LOWEST <= found / rate.bits <= HIGHEST:
            break
    require_rate(found, rate)
    return words[1], found


def sent(nodes):
    """{node: (bytes, packets)} that each node sent."""
    counters = {}
    for i in range(1, nodes + 1):
        said = _run(["tc", "-n", f"n{i}", "-s", "qdisc", "show", "dev", "eth0"])
        [(count, packets)] = re.findall(r"Sent (\d+) bytes (\d+) pkt", said)
        counters[f"n{i}"] = (int(count), int(packets))
    return counters


def environment(job, cores):
    """The environment of mpirun and of the ranks."""
    ranks = job["nodes"] * job["ranks_per_node"]
    threads = job["threads"] or max(1, cores // ranks)
    found = os.environ | {
        "OMP_NUM_THREADS": str(threads), "OMP_PROC_BIND": "false", "GRADCOMP_SHAPED_LINK": Rate(job["bits"]).text,
        "GRADCOMP_INTERFACE": "eth0",
        "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "sm,tcp,self", "OMPI_MCA_btl_tcp_if_include": "10.77.0.0/24",
        # otherwise Open MPI carries the two directions of an exchange one after the other, and dense seems twice as slow as it is
        "OMPI_MCA_btl_tcp_flags": "send",
        "PRTE_MCA_plm_ssh_agent": AGENT, "PRTE_MCA_prte_if_include": "10.77.0.0/24",
        "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "TMPDIR": "/run/gradcomp/node"}
    if ranks * (threads + 1) > cores:  # ranks that wait in MPI yield the core to ranks that compute
        found["OMPI_MCA_mpi_yield_when_idle"] = "1"
        found["KOKKOS_DISABLE_WARNINGS"] = "1"
    return found


def job_words(job):
    """The command line of the job, which starts on n1 as on a login node."""
    slots = job["ranks_per_node"]
    hosts = ",".join(f"n{i}:{slots}" for i in range(1, job["nodes"] + 1))
    return [AGENT, "n1", "exec", "mpirun", "-n", str(slots * job["nodes"]), "-H", hosts,
            "--map-by", f"ppr:{slots}:node:oversubscribe", "--bind-to", "none"]


def main(job):
    """Runs the job. Returns its exit status and the report."""
    rate, nodes = Rate(job["bits"]), job["nodes"]
    _run(["bash", str(HERE / "make"), str(nodes)])
    bucket, calibrated = shape(rate, nodes)
    before = sent(nodes)
    quoted = ["'" + word.replace("'", "'\\''") + "'" for word in job["command"]]  # the agent passes a line to a shell, as ssh does
    status = subprocess.run([*job_words(job), *quoted], env=environment(job, len(os.sched_getaffinity(0))),
                            check=False).returncode
    after = sent(nodes)
    links = []
    for node in after:
        count, packets = (now - then for now, then in zip(after[node], before[node], strict=True))
        links.append({"node": node, "sent_bytes": count, "sent_packets": packets, "payload_bytes": count - FRAME * packets})
    return status, {"nodes": nodes, "ranks_per_node": job["ranks_per_node"], "rate_bits_per_s": rate.bits,
                    "measured_bits_per_s": calibrated, "bucket": bucket, "command": job["command"], "status": status, "links": links}


if __name__ == "__main__":
    try:
        STATUS, REPORT = main(json.loads(sys.argv[1]))
    except ToolError as error:
        print(f"shaped-links: error: {error}", file=sys.stderr)
        sys.exit(2)
    with os.fdopen(int(sys.argv[2]), "w", encoding="utf-8") as file:
        json.dump(REPORT, file)
    sys.exit(STATUS if 0 <= STATUS < 256 else 1)
