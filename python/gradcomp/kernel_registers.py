"""Lists registers, stack and spills of every kernel, as nvcc's assembler reports them in a build of the preset cuda-compile,
and whether Kokkos stages its arguments."""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

from gradcomp.errors import ToolError
from gradcomp.guarded import guarded
from gradcomp.output.files import write_whole

ENTRY = re.compile(r"Compiling entry function '(\S+)' for '(\w+)'")
MEMORY = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers")
NAME = re.compile(r"gradcomp::(?:\(anonymous namespace\)::|\w+::)*\w+")
WRAPPERS = tuple("gradcomp::kernels::" + name for name in (
    "detail::for_warps", "for_warps", "for_teams_of_warps", "Gated", "detail::GroupsThen", "detail::OnSegments", "detail::TilePerWarp"))

COMPILER = re.compile(r"^CMAKE_CUDA_COMPILER:\w+=(.+)$", re.MULTILINE)
RELEASE = re.compile(r"release ([\d.]+)")

STAGED = re.compile("launch_(constant|global)_memory")  # how Kokkos launches with arguments of 512 bytes and more: it copies them first

Kernel = collections.namedtuple("Kernel", "name architecture registers stack spilled staged")
FIGURES = Kernel._fields[2:]


def kernels(folder):
    """One Kernel for each entry function below the folder; its name is mangled."""
    for path in sorted(folder.rglob("*.ptxas")):
        name = memory = None
        for line in path.read_text(errors="replace").splitlines():
            if match := ENTRY.search(line):
                name, memory = match.groups(), None
            elif name and not memory and (match := MEMORY.search(line)):
                memory = [int(number) for number in match.groups()]
            elif name and memory and (match := USED.search(line)):
                mangled, architecture = name
                staged = 1 if STAGED.search(mangled) else 0
                yield Kernel(mangled, architecture, int(match[1]), memory[0], memory[1] + memory[2], staged)
                name = None


def readable(mangled):
    """The function of gradcomp that launches each kernel; "" for kernels of Kokkos itself."""
    plain = subprocess.run(["c++filt"], input="\n".join(mangled), capture_output=True, text=True, check=True).stdout
    for line in plain.splitlines():
        names = [name for name in NAME.findall(line) if not name.startswith(WRAPPERS)]
        yield names[0].replace("(anonymous namespace)::", "").removeprefix("gradcomp::") if names else ""


def by_function(folder):
    """{function: (kernels, maximum of registers, of stack and of spills)}; a template has a kernel for each of its types."""
    found = list(kernels(folder))
    if not found:
        raise ToolError(f"'{folder}': there are no *.ptxas files; ./run build cuda-compile writes them")
    table = {}
    for name, kernel in zip(readable([k.name for k in found]), found, strict=True):
        count, *most = table.get(name, (0, 0, 0, 0, 0))
        table[name] = (count + 1, *map(max, most, kernel[2:]))
    table.pop("", None)
    return found[0].architecture, len(found), table


def toolkit(folder):
    """The CUDA Toolkit of a build, such as "13.0"."""
    try:
        [compiler] = COMPILER.findall((folder / "CMakeCache.txt").read_text(encoding="utf-8"))
        [release] = RELEASE.findall(subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout)
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        raise ToolError(f"'{folder}' is no build by nvcc, whose version is needed beside --limits: {error}") from error
    return release


def page(architecture, total, table):
    spilled = sum(1 for row in table.values() if row[3])
    lines = [f"{total} kernels for {architecture}, {len(table)} functions of ours that launch them, {spilled} of these with "
             "spills. Of a function's kernels the largest figures are shown. Stack and spills in bytes of a thread. Staged: 1 if "
             "Kokkos copies arguments of 512 bytes and more before each launch.", "",
             "| launched by | kernels | registers | stack | spilled | staged |", "|---|---|---|---|---|---|"]
    for name, row in sorted(table.items()):
        lines.append(f"| `{name}` | " + " | ".join(str(value) for value in row) + " |")
    return "\n".join(lines) + "\n"


def differences(limits, table):
    """One line for each function above its limits, and for each exception that is no longer needed. `limits`: as in
    docs/baselines/registers.json."""
    usual = limits["usual"]
    exceptions = {name: figures for group in limits["exceptions"] for name, figures in group["kernels"].items()}
    for name in sorted(exceptions.keys() - table.keys()):
        yield f"{name} launches no kernel; its exception can go"
    for name, (_, *figures) in sorted(table.items()):
        exception = exceptions.get(name, {})
        for kind, used in zip(FIGURES, figures, strict=True):
            allowed = exception.get(kind, usual[kind])
            if used > allowed:
                yield f"{name}: {kind} {used}, allowed are {allowed}"
            elif kind in exception and used <= usual[kind]:
                yield f"{name}: {kind} {used} need no exception"


def main():
    parser = argparse.ArgumentParser(prog="kernel_registers", description=__doc__)
    parser.add_argument("folder", type=pathlib.Path, help="folder of the build, for example build/cuda-compile")
    parser.add_argument("--output", type=pathlib.Path, help="write the table to this file instead of the terminal")
    parser.add_argument("--limits", type=pathlib.Path, metavar="JSON",
                        help="fail if a function needs more than this file allows, or an exception that it no longer needs")
    arguments = parser.parse_args()
    return guarded("kernel_registers", lambda: _work(arguments))


def _work(arguments):
    found = by_function(arguments.folder)
    if arguments.output:
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        write_whole(arguments.output, page(*found))
    else:
        sys.stdout.write(page(*found))
    if not arguments.limits:
        return 0
    limits, used = json.loads(arguments.limits.read_text(encoding="utf-8")), toolkit(arguments.folder)
    if limits["toolkit"] != used:  # another assembler allots other registers
        print(f"kernel_registers: not compared: the limits are those of CUDA {limits['toolkit']}, the build is by {used}")
        return 0
    failed = list(differences(limits, found[2]))
    for line in failed:
        print(f"kernel_registers: {line}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
