"""Checks pages of docs/ for length and the HTML of the site for broken links: `./dev site` runs it.

A link to another site must have the form https://HOST/PATH. It is not followed.

Usage: python docs/check_site.py SITE. Each finding is one line; the exit status is 1 if there is one.
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

DOCS = Path(__file__).resolve().parent
MOST_WORDS = 2500
EXCEPTIONS = {"architecture.md": 3000}
README_LINES = 120
# A link to another site. Nothing is fetched: a check must not depend on the network.
OUTSIDE = re.compile(r"https://(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?(?:/[^\s<>\"]*)?(?<![.,;)])")


class Links(HTMLParser):
    """The targets of links and pictures of one page, and the anchors that it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.targets.append(value)


def words(text: str) -> int:
    """The number of words with a letter or a digit, code and tables included."""
    return sum(bool(re.search(r"\w", word)) for word in text.split())


def long_pages() -> list[str]:
    found = []
    for page in sorted(DOCS.rglob("*.md")):
        count, most = words(page.read_text()), EXCEPTIONS.get(page.name, MOST_WORDS)
        if count > most:
            found.append(f"docs/{page.relative_to(DOCS)}: found {count} words, expected at most {most}")
    lines = len((DOCS.parent / "README.md").read_text().splitlines())
    if lines > README_LINES:
        found.append(f"README.md: found {lines} lines, expected at most {README_LINES}")
    return found


def broken_links(site: Path) -> list[str]:
    pages = {page: Links(page.read_text()) for page in sorted(site.rglob("*.html"))}
    found = []
    for page, links in pages.items():
        for target in links.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if parts.scheme not in ("data", "mailto") and not OUTSIDE.fullmatch(target):
                    found.append(
                        f"{page.relative_to(site)}: found the link {target}, expected https://HOST/PATH"
                    )
                continue
            file = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if not file.exists():
                found.append(
                    f"{page.relative_to(site)}: found the link {target}, expected a file of the site"
                )
            elif parts.fragment and file in pages and unquote(parts.fragment) not in pages[file].anchors:
                found.append(
                    f"{page.relative_to(site)}: found the link {target}, expected an anchor of its page"
                )
    return found


def main() -> int:
    site = Path(sys.argv[1]).resolve()
    found = long_pages() + broken_links(site)
    print("\n".join(found) if found else f"{site}: {len(list(site.rglob('*.html')))} pages, no broken link")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
