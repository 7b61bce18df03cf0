#!/usr/bin/env python3
"""Compares the worlds of this folder with those of the BARN data set: a table of measures in Markdown.

    python3 compare_worlds.py FOLDER

FOLDER has index.csv (columns `world`, `field_cylinders`, `optimal_time_s`), and for each world a picture of its
corridor, world_N.png (0.025 m a pixel, bright where it is free), and the cells of its reference path, path_N.npy.
Needs NumPy and Pillow.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np
from make_worlds import FULL_SPEED, SIDE, Field, clearances, fill_of, free_cells, passage_width
from PIL import Image

PIXELS = 6  # a cell is so many wide
FIRST = (
    209,
    3,
)  # row and column of the pixel in the middle of the first cell of the field: y = 5.225 m, x = -4.425 m
MEASURES = {
    "field_fill": "share of filled cells, walls apart",
    "path_length_m": "length of the reference path (m)",
    "path_mean_clearance_m": "from the path to the nearest cylinder, mean (m)",
    "passage_width_m": "narrowest place of the widest way (m)",
}
Row = dict[str, float]


def field_of(picture: Path) -> Field:
    """The cells of a field, each filled where its middle is."""
    filled = np.asarray(Image.open(picture).convert("L"))[::-1] < 128
    cells = filled[FIRST[0] :: PIXELS, FIRST[1] :: PIXELS][:SIDE]
    return [[bool(cell) for cell in row] for row in cells]


def measures_of(folder: Path, row: dict[str, str]) -> Row:
    """The measures of a world of the data set.

    Its path is in cells of the field, as the rows of its generator have them; in metres it is a cell nearer to the
    start. So `path_length_m` is as published, and clearances are those that its generator kept.
    """
    field = field_of(folder / f"world_{row['world']}.png")
    found = sum(sum(cells[1:-1]) for cells in field)
    if found != int(row["field_cylinders"]):
        raise ValueError(f"world {row['world']}: found {found} cylinders, expected {row['field_cylinders']}")
    path = [(int(r), int(c)) for c, r in np.load(folder / f"path_{row['world']}.npy")]
    missing = set(path) - free_cells(field)
    if missing:
        raise ValueError(f"world {row['world']}: found cells {missing} of the path too near to a cylinder")
    room = clearances(field, path)
    return {
        "field_fill": fill_of(field),
        "path_length_m": float(row["optimal_time_s"]) * FULL_SPEED,
        "path_mean_clearance_m": sum(room) / len(room),
        "passage_width_m": passage_width(field),
    }


def table(public: list[Row], own: list[Row]) -> list[str]:
    """Quartiles and mean of each measure, two lines each."""
    lines = ["| measure | worlds | least | 25 % | median | 75 % | most | mean |", "|---|---|" + "---:|" * 6]
    for name, words in MEASURES.items():
        for what, rows in (("of BARN", public), ("of ours", own)):
            values = [row[name] for row in rows]
            numbers = [*np.percentile(values, (0, 25, 50, 75, 100)), np.mean(values)]
            digits = 3 if name == "field_fill" else 2
            cells = " | ".join(f"{number:.{digits}f}" for number in numbers)
            lines.append(f"| {words if rows is public else ''} | {len(rows)} {what} | {cells} |")
    return lines


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder, here = Path(sys.argv[1]), Path(__file__).resolve().parent
    with open(folder / "index.csv", newline="") as file:
        public = [measures_of(folder, row) for row in csv.DictReader(file)]
    with open(here / "index.csv", newline="") as file:
        own = [{name: float(row[name]) for name in MEASURES} for row in csv.DictReader(file)]
    print("\n".join(table(public, own)))


if __name__ == "__main__":
    main()
