"""Jinja2 templates: files NAME.html.j2 and NAME.md.j2 beside the code that fills them."""
import base64

import jinja2

from . import markdown


def fill(folder, name, **values):
    """The text of a template of `folder`, filled with the values. HTML is escaped, Markdown is not."""
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(folder), autoescape=name.endswith(".html.j2"), trim_blocks=True,
                                     lstrip_blocks=True, keep_trailing_newline=True, undefined=jinja2.StrictUndefined)
    environment.filters["base64"] = lambda data: base64.b64encode(data).decode("ascii")
    environment.filters |= {"plain": markdown.plain, "target": markdown.target}
    environment.filters["markdown_table"] = lambda table: "\n".join(markdown.table(*table))
    return environment.get_template(name).render(**values)
