"""Configuration of Sphinx for `./dev site`. Nothing is fetched while the site is built."""

from __future__ import annotations

import re
from typing import Any

import mvsim_gym

project = "mvsim_gym"
author = "The mvsim_gym developers"
project_copyright = author
release = version = mvsim_gym.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
exclude_patterns: list[str] = []

# Anchors of headings are those of the repository's web page, so that a link works in both places.
myst_heading_anchors = 5
myst_enable_extensions = ["attrs_inline"]
suppress_warnings = ["myst.header"]
# Types of other packages have no page here.
nitpick_ignore_regex = [("py:.*", ".*")]

# Learning libraries that `./dev site` does not install.
autodoc_mock_imports = ["ray", "rl_games", "pufferlib"]
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_preserve_defaults = True
autodoc_default_options = {"members": True}
napoleon_google_docstring = True
napoleon_numpy_docstring = False

html_theme = "furo"
html_title = f"mvsim_gym {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}


def literal(found: re.Match[str]) -> str:
    """Code in double backticks; where it stands beside a letter or a stop, an escaped blank keeps it apart."""
    code = " ".join(found[1].split())
    before, after = found.string[: found.start()][-1:], found.string[found.end() :][:1]
    left = "" if re.fullmatch(r"|[\s(\[{<\"'/:-]", before) else "\\ "
    right = "\\ " if re.fullmatch(r"\w", after) else ""
    return f"{left}``{code}``{right}"


def as_restructured_text(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Makes docstrings, whose code stands in single backticks as in Markdown, reStructuredText. Names of pages become
    links."""
    text = re.sub(r"\bdocs/([\w-]+)\.md\b", r":doc:`\1`", "\n".join(lines))
    text = re.sub(r"(?<!\|)\|(?=[\w ]+\|)", r"\|", text)
    text = re.sub(r"(?<![`:\w])`([^`\n]+(?:\n *[^`\n]+)?)`(?![`_])", literal, text)
    lines[:] = re.sub(r"(?<![\\*\w])\*\*?(?=\w+\b(?!\*))", lambda stars: "\\*" * len(stars[0]), text).split(
        "\n"
    )


def adapt_links(app: Any, page: str, source: list[str]) -> None:
    """Links the environments, and keeps the words alone of links to README.md and CONTRIBUTING.md."""
    if page == "environments":  # each environment has its page on the site alone
        source[0] = re.sub(
            r"^\| (`mvsim/(?!Custom)(\w+)-v\d+`)", r"| [\1](environments/\2.md)", source[0], flags=re.M
        )
    source[0] = re.sub(r"\[([^\]]+)\]\(\.\./(?:README|CONTRIBUTING)\.md[^)]*\)", r"\1", source[0])


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", adapt_links)
    app.connect("autodoc-process-docstring", as_restructured_text, priority=400)
    return {"parallel_read_safe": True}
