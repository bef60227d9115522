"""The mutants of a folder, made by the rules of universalmutator, and a random order of them that a seed repeats."""
import ast
import contextlib
import dataclasses
import hashlib
import io
import pathlib
import re

from gradcomp.errors import ToolError

RULES = {".py": ["universal.rules", "python.rules"], ".cpp": ["universal.rules", "c_like.rules", "cpp.rules"]}
RULES[".hpp"] = RULES[".cpp"]
LITERAL = re.compile(r"""(["'])(?:[^\\]|\\.)*?\1""")


@dataclasses.dataclass(frozen=True, order=True)
class Mutant:
    """A replacement of one line (counted from 1) of a file (relative to the tree)."""
    file: str
    line: int
    before: str
    after: str

    def place(self, seed):
        """The place of the mutant in the order of the seed."""
        return hashlib.sha256(f"{seed}\n{self.file}:{self.line}\n{self.before}\n{self.after}".encode()).hexdigest()

    def apply(self, text):
        """The text of the file with this mutant."""
        lines = text.splitlines(keepends=True)
        assert lines[self.line - 1] == self.before
        lines[self.line - 1] = self.after
        return "".join(lines)


def _rules():
    try:
        from universalmutator.mutator import mutants_regexp
    except ImportError as error:
        raise ToolError("universalmutator is missing: start this tool with ./run mutate, which installs it") from error
    return mutants_regexp


def _pointless(before, after):
    """Whether a change almost surely does not build: it changes < > & * without spaces around them (which are templates,
    references and pointers after clang-format) or digits within a name, or it adds a jump after a line."""
    if after.count("\n") > before.count("\n"):
        return True
    at = next((place for place, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), 0)
    if at and before[at - 1] in "<>" and after[at] == "=":
        at -= 1
    start = at
    while start and before[start - 1].isdigit():
        start -= 1
    if before[start].isdigit() and start and (before[start - 1].isalnum() or before[start - 1] == "_"):
        return True
    spaced = at and before[at - 1] == " " and before[at + 1:at + 2] in (" ", "=")
    return before[at] in "<>&*" and not spaced


def _code(line):
    """A line without the words of its strings: a string with a space is a sentence, of which only what stands in braces is code."""
    return LITERAL.sub(lambda found: "".join(re.findall(r"\{[^{}]*\}", found[0])) if " " in found[0] else found[0], line)


def _only_words(before, after):
    """Whether a change is one of words alone. The rules read signs in a sentence as operators, which they are not."""
    return " " in before and _code(before) == _code(after)


def of_folder(tree, folder):
    """All mutants of a folder's sources. Throws ToolError."""
    rules, found = _rules(), []
    for path in sorted((pathlib.Path(tree) / folder.path).rglob("*")):
        if path.suffix in RULES:
            source = path.read_text(encoding="utf-8").splitlines(keepends=True)
            with contextlib.redirect_stdout(io.StringIO()):  # universalmutator prints its rules
                made = rules(source, ruleFiles=RULES[path.suffix], ignorePatterns=list(folder.excluded))
            name = path.relative_to(tree).as_posix()
            found += [Mutant(name, number, source[number - 1], after) for number, after, *_ in made
                      if (path.suffix == ".py" or not _pointless(source[number - 1], after))
                      and not _only_words(source[number - 1], after)]
    if not found:
        raise ToolError(f"'{folder.path}' has no mutants: it holds no sources in C++ or Python")
    return sorted(set(found))


def ordered(mutants, seed):
    """A random order: the first N are a sample, and a larger sample begins with the smaller one."""
    return sorted(mutants, key=lambda one: one.place(seed))


def _is_sentence(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value


class _WithoutWords(ast.NodeTransformer):
    """Removes what no test should depend on: docstrings, `pass`, and the words of sentences (strings with a space)."""

    def visit_Expr(self, node):
        return None if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_Pass(self, _):
        return None

    def visit_Constant(self, node):
        return ast.Constant("") if _is_sentence(node) else node

    def visit_JoinedStr(self, node):
        words = ast.Constant if any(map(_is_sentence, node.values)) else ()
        return ast.JoinedStr([self.visit(part) for part in node.values if not isinstance(part, words)])


def _parsed(text):
    return ast.dump(_WithoutWords().visit(ast.parse(text)))


def same_program(before, after):
    """Whether two Python texts differ only in docstrings, comments and words of sentences. Throws SyntaxError."""
    compile(after, "mutant", "exec")  # which also refuses a jump outside of a loop
    return _parsed(before) == _parsed(after)
