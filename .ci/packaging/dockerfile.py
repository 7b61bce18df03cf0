"""Turns the steps of a Dockerfile into a shell script for a bare root, so that they are tried where there is no Docker.

usage: python .ci/packaging/dockerfile.py Dockerfile >script, then .ci/packaging/bare.sh SUITE build/release sh script

The script runs the steps as root, then the entry point as the last USER, with its own arguments. /given stands for
the folder that COPY takes files from.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path


def steps_of(text: str) -> Iterator[tuple[str, str]]:
    """Yields each instruction and what follows it, lines joined."""
    for line in re.sub(r"\\\n\s*", "", text).splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            name, _, rest = line.strip().partition(" ")
            yield name.upper(), rest.strip()


def script_of(text: str) -> str:
    lines, user, folder, entry = ["set -eu"], "root", "/", '"$@"'
    for name, rest in steps_of(text):
        if name == "FROM":
            continue  # the bare root stands for it
        if name == "RUN":
            lines.append(f"cd {folder} && sh -c {shlex.quote(rest)}")
        elif name == "COPY":
            *sources, target = rest.split()
            lines.append(
                f"mkdir -p {target} && cp -r {' '.join('/given/' + Path(s).name for s in sources)} {target}"
            )
        elif name == "ENV":
            lines.append(f"export {rest}")
        elif name == "WORKDIR":
            folder = rest
            lines.append(f"mkdir -p {folder}")
        elif name == "USER":
            user = rest
        elif name == "ENTRYPOINT":
            entry = " ".join([*map(shlex.quote, json.loads(rest)), '"$@"'])
        else:
            raise SystemExit(
                f"dockerfile: found {name}, expected FROM, RUN, COPY, ENV, WORKDIR, USER or ENTRYPOINT"
            )
    as_user = f"setpriv --reuid {user} --regid {user} --init-groups env HOME=/home/{user}"
    lines.append(f'cd {folder} && exec {as_user} sh -c {shlex.quote(entry)} sh "$@"')
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(script_of(Path(sys.argv[1]).read_text()))
