"""Reads folders.toml: the folders that can be mutated, and the tests that cover each."""
import dataclasses
import pathlib

from gradcomp.errors import ToolError, taking
from gradcomp.json_files import read_toml

TABLE = pathlib.Path(__file__).with_name("folders.toml")


@dataclasses.dataclass(frozen=True)
class Stage:
    """Tests that run together, after the targets that they need are built."""
    run: str
    targets: tuple = ()


@dataclasses.dataclass(frozen=True)
class Folder:
    """Sources that are mutated; `library` is the library that they are compiled into, or None; `objects` matches all object
    files."""
    name: str
    path: str
    stages: tuple
    build: str
    excluded: tuple
    objects: str
    library: str | None


def read(table):
    """{name: Folder}. Throws ToolError."""
    settings = read_toml(table)
    with taking(f"'{table}' is not a table of folders"):
        build, excluded, objects = settings.pop("build"), tuple(settings.pop("excluded")), settings.pop("objects")
        return {name: Folder(name, one["path"], tuple(Stage(stage["run"], tuple(stage.get("targets", ())))
                                                      for stage in one["stages"]),
                             build, excluded, objects, one.get("library")) for name, one in settings.items()}


def find(folders, wish):
    """The folder with this name or path. Throws ToolError."""
    wish = wish.rstrip("/")
    for folder in folders.values():
        if wish in (folder.name, folder.path):
            return folder
    raise ToolError(f"there is no folder '{wish}'; allowed: {', '.join(folders)}")
