"""The command line of peers_ddp: trains a dumped network with DistributedDataParallel (DDP) of PyTorch over gloo, once with each of
its hooks that compress gradients. All start from the same weights and take turns in blocks of steps, as the methods of
gradcomp-train do."""
import argparse
import datetime
import json
import os
import pathlib
import warnings

from gradcomp.errors import ToolError, taking
from gradcomp.guarded import guarded
from gradcomp.json_files import read_json
from gradcomp.output.files import write_whole

from . import hooks
from .hooks import METHODS
from .trainer import Trainer

RANK, RANKS = "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"
ATTEMPTS = 4  # to connect the ranks
JOINED = "joined"
EPILOG = """The exit status is 0; 2 with one line for bad input; 130 if interrupted. Start it with mpirun, with as many ranks as wrote
MODEL, or with tools/shaped-links. FOLDER must be the same one for all ranks, and empty."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors have one line."""

    def error(self, message):
        raise ToolError(message)


def parse(arguments=None):
    """The options. Throws ToolError."""
    parser = Parser(prog="peers_ddp", usage="peers_ddp MODEL --meet FOLDER [OPTIONS]", epilog=EPILOG,
                    description="Trains with PyTorch's DDP and its hooks what gradcomp-train --dump-batches wrote.")
    parser.add_argument("model", type=pathlib.Path, metavar="MODEL", help="the file rank0/model.json of --dump-batches; each rank "
                        "reads its own folder beside rank0")
    parser.add_argument("--meet", type=pathlib.Path, required=True, metavar="FOLDER", help="where the ranks find each other")
    parser.add_argument("--methods", default=",".join(METHODS), help="(default: %(default)s)")
    parser.add_argument("--block", type=int, default=20, metavar="N", help="steps that one method runs before the next one takes its "
                        "turn (default: %(default)s)")
    parser.add_argument("--output", type=pathlib.Path, help="result file (JSON) of rank 0")
    options = parser.parse_args(arguments)
    options.methods = options.methods.split(",")
    unknown = [name for name in options.methods if name not in METHODS]
    if unknown:
        raise ToolError(f"unknown method '{unknown[0]}'; allowed: {', '.join(METHODS)}")
    if options.block < 1:
        raise ToolError(f"--block {options.block} is not allowed; allowed: at least 1 step")
    if not options.meet.is_dir():
        raise ToolError(f"--meet '{options.meet}' is not a folder")
    return options


def meet(distributed, path, rank, ranks):
    """Joins the group of all ranks, which find each other in a new file. gloo of PyTorch 2.6 sometimes fails to connect two ranks
    (`connectFullMesh failed`): then all try again. Collective. Throws ToolError after the last attempt."""
    store = distributed.FileStore(str(path), ranks)
    for attempt in range(ATTEMPTS):
        try:
            distributed.init_process_group("gloo", store=distributed.PrefixStore(str(attempt), store), rank=rank, world_size=ranks,
                                           timeout=datetime.timedelta(minutes=1))
            said = JOINED
        except RuntimeError as error:
            said = " ".join(str(error).split())
        store.set(f"said/{attempt}/{rank}", said)
        answers = [store.get(f"said/{attempt}/{one}").decode() for one in range(ranks)]  # waits for the others
        failed = [answer for answer in answers if answer != JOINED]
        if not failed:
            return
        if said == JOINED:
            distributed.destroy_process_group()
    raise ToolError(f"gloo does not connect the ranks: {failed[0]}")


def train(torch, options, folder, interface):
    """The rows of all methods. A method that PyTorch refuses has a row that says why."""
    hooks.put_right()
    trainers, refused = {}, {}
    for name in options.methods:
        try:
            trainers[name] = Trainer(torch, folder, name)
        except hooks.Refused as error:
            refused[name] = str(error)
    steps = max((trainer.network.batches for trainer in trainers.values()), default=0)
    for begin in range(0, steps, options.block):
        for trainer in trainers.values():
            trainer.block(range(begin, min(begin + options.block, steps)), interface)
    return [{"label": name, "refused": refused[name]} if name in refused else trainers[name].row(interface != "lo")
            for name in options.methods]


def _work(arguments):
    options = parse(arguments)
    if RANK not in os.environ:
        raise ToolError("start it with mpirun")
    rank, ranks = int(os.environ[RANK]), int(os.environ[RANKS])
    folder = options.model.parent.parent / f"rank{rank}"
    with taking(f"'{folder}' is not what --dump-batches writes"):
        written = read_json(folder / "model.json")["ranks"]
    if written != ranks:
        raise ToolError(f"'{options.model}' is of {written} ranks, not of {ranks}")
    interface = os.environ.get("GRADCOMP_INTERFACE", "lo")  # tools/shaped-links sets it
    os.environ["GLOO_SOCKET_IFNAME"] = interface
    warnings.simplefilter("ignore", FutureWarning)
    import torch  # here, so that bad input is refused at once
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", 1)))
    meet(torch.distributed, (options.meet / "meet").resolve(), rank, ranks)
    rows = train(torch, options, folder, interface)
    torch.distributed.barrier()  # nobody leaves while another still waits for it
    if rank == 0:
        if options.output:
            write_whole(options.output, json.dumps({"torch": torch.__version__, "threads": torch.get_num_threads(), "rows": rows}))
        for row in rows:
            print(f"{row['label']}: {row['refused'] if 'refused' in row else '{:.2f} ms'.format(row['step_time_ms']['mean'])}")
    return 0


def main(arguments=None):
    """Returns the exit status."""
    return guarded("peers_ddp", lambda: _work(arguments))
