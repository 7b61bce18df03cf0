"""Copies of a race track for training: its mirror image, and the same track in another size.

    python examples/track_variants.py gbr.yaml gbr_centerline.csv -o mirrored/gbr --mirror
    python examples/track_variants.py gbr.yaml gbr_centerline.csv -o small/gbr --scale 0.8

Writes NAME.yaml, NAME.png and NAME_centerline.csv for `-o FOLDER/NAME`, which `mvsim-gym import` reads. A track of 0.8
of the size has corners that are a quarter tighter, and is narrower.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import imageio.v3 as iio
import numpy as np
import yaml
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
Line = NDArray[np.float64]  # a row for each point: x, y, widths to the right and to the left (m)


def mirrored(meta: dict[str, Any], pixels: Pixels, line: Line) -> tuple[dict[str, Any], Pixels, Line]:
    """A map and its middle line with y turned round, so that left turns become right ones."""
    x, y, yaw = meta["origin"]
    if yaw != 0:
        raise ValueError(f"found a map turned by {yaw}, expected an origin with a yaw of 0")
    top = y + pixels.shape[0] * meta["resolution"]
    turned = np.stack([line[:, 0], -line[:, 1], line[:, 3], line[:, 2]], axis=1)
    return {**meta, "origin": [x, -top, 0.0]}, pixels[::-1], turned


def scaled(meta: dict[str, Any], line: Line, factor: float) -> tuple[dict[str, Any], Line]:
    """A map and its middle line with all lengths times a factor; the picture stays."""
    x, y, yaw = meta["origin"]
    size = {"resolution": factor * meta["resolution"], "origin": [factor * x, factor * y, yaw]}
    return {**meta, **size}, factor * line


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("map", type=Path, metavar="MAP.yaml", help="as ROS has them")
    parser.add_argument("line", type=Path, metavar="LINE.csv", help="x, y, width to the right, to the left")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER/NAME")
    parser.add_argument("--mirror", action="store_true", help="turn y round")
    parser.add_argument("--scale", type=float, default=1.0, help="times all lengths (default 1)")
    args = parser.parse_args()
    if not args.scale > 0:
        parser.error(f"--scale: found {args.scale}, expected a number above 0")
    meta = yaml.safe_load(args.map.read_text())
    pixels = iio.imread(args.map.parent / meta["image"])
    line = np.loadtxt(args.line, delimiter=",", comments="#")
    if line.ndim != 2 or line.shape[1] != 4:
        parser.error(f"{args.line}: found rows of {line.shape[-1]} numbers, expected 4")
    if args.mirror:
        meta, pixels, line = mirrored(meta, pixels, line)
    meta, line = scaled(meta, line, args.scale)
    folder, name = args.output.parent, args.output.name
    folder.mkdir(parents=True, exist_ok=True)
    iio.imwrite(folder / f"{name}.png", pixels)
    (folder / f"{name}.yaml").write_text(yaml.safe_dump({**meta, "image": f"{name}.png"}, sort_keys=False))
    np.savetxt(folder / f"{name}_centerline.csv", line, delimiter=",")


if __name__ == "__main__":
    main()
