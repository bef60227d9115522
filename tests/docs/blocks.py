"""The shell blocks of the pages, and the marks before them: comments that neither a forge nor the site shows.

    <!-- not run: needs a Slurm cluster -->
    <!-- exit status: 0 or 3 -->
"""
import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^( *)(`{3,}|~{3,})([^`]*)$")
COMMENT = re.compile(r"^ *<!--(.*)-->$")
NOT_RUN = re.compile(r"not run:\s+(\S.*\S)")
STATUSES = re.compile(r"exit status:\s+(\d+(?: or \d+)*)")
LOOKS_LIKE_A_MARK = re.compile(r"\s*(not[ -]?run|run|exit)\b", re.IGNORECASE)


class MarkError(Exception):
    """One line with the page, the line, what is wrong and what is allowed."""


@dataclasses.dataclass(frozen=True)
class Block:
    """A shell block. `line`: line of its fence; `reason`: why it does not run; `statuses`: exit statuses that mean success."""

    page: str
    line: int
    code: str
    reason: str = ""
    statuses: tuple = (0,)

    @property
    def place(self):
        return f"{self.page}:{self.line}"


def pages():
    """The pages that people read, relative to the root of the project."""
    top = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    return [path.relative_to(ROOT).as_posix() for path in top + sorted((ROOT / "docs").rglob("*.md"))]


def _mark(comment, place):
    """The fields of a Block that a comment sets."""
    text = comment.strip()
    if found := NOT_RUN.fullmatch(text):
        return {"reason": found[1]}
    if found := STATUSES.fullmatch(text):
        return {"statuses": tuple(int(status) for status in found[1].split(" or "))}
    raise MarkError(f"{place}: '{text}' is no mark: write 'not run: REASON' or 'exit status: 0 or N'")


def read(text, page):
    """The shell blocks of a page's text, in order. Throws MarkError."""
    blocks, inside, mark = [], None, None  # inside: indentation, fence, language, first line, lines of the block
    for number, line in enumerate(text.splitlines(), 1):
        found = FENCE.match(line)
        if inside:
            indent, fence, language, start, lines = inside
            if found and found[2].startswith(fence) and not found[3].strip():
                if language == "sh":
                    blocks.append(Block(page, start, "\n".join(lines) + "\n", **(mark or {})))
                inside, mark = None, None
            else:
                lines.append(line[indent:] if not line[:indent].strip() else line)
            continue
        if found:
            language = found[3].strip()
            if language in ("bash", "shell", "console", "shell-session", "zsh"):
                raise MarkError(f"{page}:{number}: blocks of shell commands are called 'sh', not '{language}'")
            if mark and language != "sh":
                raise MarkError(f"{page}:{number}: a mark before a block that is not 'sh'")
            inside = (len(found[1]), found[2], language, number, [])
            continue
        if mark:
            raise MarkError(f"{page}:{number - 1}: a mark stands on the line before its block")
        comment = COMMENT.match(line)
        if comment and LOOKS_LIKE_A_MARK.match(comment[1]):
            mark = _mark(comment[1], f"{page}:{number}")
    if inside or mark:
        raise MarkError(f"{page}: the page ends within a block, or after a mark")
    return blocks
