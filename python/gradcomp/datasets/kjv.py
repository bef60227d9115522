"""The King James Bible as a Debian package has it, one verse per line."""
import hashlib
import shutil
import subprocess
import sys

from gradcomp.errors import ToolError
from gradcomp.output.files import write_whole

SHA256 = {  # what `bible -f ge1:1-re22:21` prints
    "cd45f0c9cedab8e4439bd6486c8952c77cc8b0ecc5d1f6ae3513f2039f47229d",
}
VERSES = 31_102
NOTE = """King James Version (1769), as Debian's packages bible-kjv and bible-kjv-text
carry it. Terms: the text is in the public domain (in the United Kingdom
printing it is a right of the Crown); the program that prints it: GPL-2+.
Converted here, not redistributed."""


def dump():
    """All verses, one per line, each after its place: "Ge1:1 In the beginning ..."."""
    program = shutil.which("bible")
    if program is None:
        raise ToolError("the King James Bible is printed by the program 'bible' (Debian: bible-kjv, bible-kjv-text), "
                     "which is not installed")
    done = subprocess.run([program, "-f", "ge1:1-re22:21"], stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode != 0:
        raise ToolError(f"'{program} -f ge1:1-re22:21' failed with status {done.returncode}")
    checksum = hashlib.sha256(done.stdout).hexdigest()
    print(f"source: {program} -f ge1:1-re22:21\nsha256: {checksum}\n{NOTE}")
    if checksum not in SHA256:
        print(f"datasets: warning: '{program}' does not print what this was tested with, results may differ",
              file=sys.stderr)
    return done.stdout


def convert(output):
    try:
        lines = dump().decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise ToolError(f"what 'bible' prints is not UTF-8 text: {error}") from error
    verses = [line.partition(" ")[2] for line in lines]
    if len(verses) != VERSES or not all(verses):
        raise ToolError(f"'bible' prints {len(verses)} verses, {verses.count('')} of them empty; expected {VERSES} verses")
    content = "".join(f"{verse}\n" for verse in verses).encode()
    write_whole(output, content)
    print(f"wrote {output}:\n{len(verses)} verses, one a line, {len(content)} bytes\n"
          f"sha256: {hashlib.sha256(content).hexdigest()}")
