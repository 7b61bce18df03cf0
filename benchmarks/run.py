"""Measures the figures of this project and writes them to a JSON file (./dev bench, ./dev bench-peers)."""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from pathlib import Path

import compare
import figures
from figure import FIGURES, HERE, Row, Settings, write


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="only show that everything runs; the numbers are worthless"
    )
    parser.add_argument(
        "--only", metavar="NAME", action="append", help="only these figures (may be repeated)"
    )
    parser.add_argument(
        "--learning", action="store_true", help="also the main job with three seeds (ten minutes)"
    )
    parser.add_argument(
        "--peers", action="store_true", help="task A, pictures, and the other simulators, in one run"
    )
    parser.add_argument("--output", type=Path, default=HERE / "results" / "latest.json")
    parser.add_argument("--list", action="store_true", help="print the names of the figures")
    options = parser.parse_args()
    known = [*FIGURES, *compare.PEERS]
    for name in options.only or []:
        if name not in known:
            parser.error(f"there is no figure {name!r}; known: {', '.join(known)}")
    return options


def chosen(options: argparse.Namespace) -> list[str]:
    if options.only:
        return options.only
    if options.peers:
        return ["task_a", "task_a_subproc", "agents_16", *figures.views.BESIDE_PEERS, *compare.PEERS]
    return [name for name in FIGURES if options.learning or name not in figures.learning.NAMES]


def main() -> int:
    options = arguments()
    if options.list:
        print("\n".join([*FIGURES, *compare.PEERS]))
        return 0
    settings = Settings(quick=options.quick)
    rows: list[Row] = []
    failed: list[str] = []
    for name in chosen(options):
        began = time.perf_counter()
        try:
            if name in FIGURES:
                measured = FIGURES[name](settings)
                found, problem = measured if isinstance(measured, list) else [measured], None
            else:
                found, problem = compare.measure(name, settings)
        except Exception:
            found, problem = [], traceback.format_exc()
        if problem:
            failed.append(name)
            print(f"{name}: {problem}", file=sys.stderr, flush=True)
        for row in found:
            print(
                f"{row.name:24} {row.value:14,.2f} {row.unit:12} ({time.perf_counter() - began:.0f} s)",
                flush=True,
            )
        rows += found
    if rows:
        write(options.output, rows)
        print(f"written: {options.output}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
