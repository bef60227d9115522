"""ReFrame's settings, made from slurm/systems/NAME.env. GRADCOMP_SYSTEM is NAME or the path of such a file; without it, local.
A site edits that file, not this one. PYTHONPATH must name the folder python/."""
import shlex

from reframe.core.backends import register_launcher
from reframe.core.exceptions import ConfigError
from reframe.core.launchers import JobLauncher

from gradcomp.errors import ToolError
from gradcomp.slurm import ROOT, chosen, script


@register_launcher("gradcomp")
class Launcher(JobLauncher):
    """The line LAUNCHER of the system, so that ranks start as they do in a sweep."""

    def command(self, job):
        """The shell words before the program."""
        ranks_per_node = job.num_tasks_per_node
        return [chosen.system().launcher({"nodes": job.num_tasks // ranks_per_node, "ranks_per_node": ranks_per_node})]


def _partition(system):
    """All of the system: jobs as slurm/submit makes them, but without its folder of a sweep."""
    scheduled = {"scheduler": system["REFRAME_SCHEDULER"], "access": list(map(shlex.quote, script.site_options(system))),
                 "max_jobs": system.number("MAX_JOBS")}
    if system.number("GPUS_PER_NODE"):
        scheduled["access"].append(f"--gpus-per-node={system['GPUS_PER_NODE']}")
    alone = {"scheduler": "local", "max_jobs": 1}  # checks beside each other would measure each other
    return {"name": "nodes", "launcher": "gradcomp", "environs": ["setup"], "sched_options": {"use_nodes_option": True},
            "prepare_cmds": [*script.exports(system), *filter(None, [system["SETUP"].strip()])]} | (
                scheduled if system.scheduled else alone)


def _configuration():
    results = ROOT / "results" / "reframe"  # reframe --prefix names another folder, which all nodes must see
    system = chosen.system()
    chosen.expected()  # what is wrong with the references is said here, not by every check
    return {
        "systems": [{"name": system.name, "descr": system["FABRIC"], "hostnames": [".*"], "prefix": str(results),
                     "partitions": [_partition(system)]}],
        "environments": [{"name": "setup"}],  # the variable SETUP loads it
        "general": [{"save_log_files": True, "report_file": f"{results}/reports/run-report-{{sessionid}}.json"}]}


try:
    site_configuration = _configuration()
except ToolError as refused:
    raise ConfigError(str(refused)) from refused
