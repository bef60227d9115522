"""Links of Markdown pages, as a forge resolves them, and links of the built HTML pages."""
import html.parser
import re
import typing

LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^()\s]+)\)")


def _without_code(text):
    text = re.sub(r"^( *)(`{3,}|~{3,}).*?^ *\2`*$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", text)


def markdown_links(text):
    """The relative targets of links in a page, except those in code."""
    return [link for link in LINK.findall(_without_code(text)) if not re.match(r"[a-z]+:", link)]


def markdown_anchors(text):
    """Anchors of the headings of a page, as forges make them."""
    found = set()
    for heading in re.findall(r"^#{1,6} (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL),
                              flags=re.MULTILINE):
        name = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        found.add(name if name not in found else next(f"{name}-{i}" for i in range(1, 99) if f"{name}-{i}" not in found))
    return found


class Page(html.parser.HTMLParser):
    """The targets of links of an HTML page (`links`), what it loads (`loads`), and its anchors (`ids`)."""

    LOADS: typing.ClassVar = {"script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data", "link": "href"}

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.ids = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.ids |= {values[name] for name in ("id", "name") if values.get(name)}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if values.get(self.LOADS.get(tag)):
            self.loads.append(values[self.LOADS[tag]])
