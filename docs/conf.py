"""The site of these pages, built by Sphinx: `./run docs`. Nothing is fetched while it builds, and the built pages load
nothing from elsewhere (tests/docs/test_site.py)."""
import pathlib
import re
import sys

from docutils import nodes
from sphinx import addnodes

DOCS = pathlib.Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.dont_write_bytecode = True  # the source folder stays clean

project = "gradcomp"
author = "gradcomp contributors"
release = re.search(r"project\(gradcomp VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]

extensions = ["myst_parser"]
nitpicky = True
myst_heading_anchors = 4  # anchors of headings as a forge makes them: [text](page.md#a-heading)
highlight_language = "text"  # of blocks that name no language, such as outputs

html_theme = "furo"
html_title = f"gradcomp {release}"
html_show_copyright = False
html_copy_source = False  # the search index holds the text; the sources are beside the site in any clone

# Files outside of docs/ that the site shows as pages.
PAGES = {"README.md": "index", "CONTRIBUTING.md": "contributing", "CHANGELOG.md": "changelog"}


def outside(target, page):
    """Where a relative link of a page leads, from the project's root, if that is there and is no page of docs/."""
    path = target.split("#", 1)[0]
    # Pages that include a file of the root also have its links, which start at the root.
    for start in ((DOCS / page).parent, ROOT):
        found = pathlib.Path(path) if path.startswith("/") else start / path
        for end in ("", ".md"):  # myst-parser takes the end off
            whole = pathlib.Path(f"{found}{end}").resolve()
            if path and whole.exists() and whole.is_relative_to(ROOT):
                return None if whole.is_relative_to(DOCS) else whole.relative_to(ROOT).as_posix()
    return None


def mend_links(app, doctree):
    """Links that leave docs/ are right in a clone and on a forge. Here they lead to the page that shows the file, or
    else become plain text: the site does not know where its sources are published. Other files, such as LICENSE, are
    copied by Sphinx by itself."""
    page = app.env.docname
    for link in list(doctree.findall(addnodes.pending_xref)):
        there = outside(link["reftarget"], page)
        if there in PAGES:
            link["refdomain"], link["reftarget"], link["reftargetid"] = "doc", PAGES[there], None
        elif there:
            link.replace_self(nodes.inline("", "", *link.children))


def setup(app):
    """Called by Sphinx."""
    app.connect("doctree-read", mend_links)
    return {"parallel_read_safe": True}
