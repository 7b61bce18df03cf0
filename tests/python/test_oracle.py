"""MVSim's own trajectories and scans, replayed through `mvsim_gym.replay`.

Contact-free cases must agree over the whole run, nearly as well as single precision allows. A contact is chaotic
in its first step, so cases with contacts are checked by where things come to rest. The reference casts rays in grids
by marching 0.8 cells at a time and slips past corners: there a few rays may be off, and the others by that much.
"""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import pytest
from conftest import DATA

from mvsim_gym import World
from mvsim_gym.replay import read_commands, replay

CASES = DATA / "oracle"
FREE = {"x": 1e-3, "y": 1e-3, "z": 1e-3, "yaw": 1e-3, "pitch": 1e-3, "roll": 1e-3, "omega": 5e-3}
CONTACT = {"x": 2e-2, "y": 2e-2, "yaw": 2e-2}
Rows = list[dict[str, str]]


def cases() -> list[Any]:
    manifest = json.loads((CASES / "manifest.json").read_text())
    return [pytest.param(case, id=case["name"]) for case in manifest["cases"]]


def read(path: Path) -> Rows:
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def wrap(angle: float) -> float:
    return (angle + math.pi) % (2 * math.pi) - math.pi


def check_states(case: dict[str, Any], want: Rows, got: Rows) -> None:
    contact = case["name"].startswith(("collision", "block_slide"))
    tolerance = CONTACT if contact else FREE
    columns = [column for column in want[0] if column.rsplit(".", 1)[-1] in tolerance]
    assert columns
    for row in want[-1:] if contact else want:
        step = int(row["step"])
        assert int(got[step]["step"]) == step
        for column in columns:
            name = column.rsplit(".", 1)[-1]
            off = float(row[column]) - float(got[step][column])
            off = wrap(off) if name == "yaw" else off
            assert abs(off) <= tolerance[name], f"{column} at step {step}"


def check_scans(want: Rows, got: Rows, world: str) -> None:
    tolerance, share = 1e-3, 0.005
    if "occupancy_grid" in world:
        tolerance, share = 0.8 * float(world.split("<resolution>")[1].split("<")[0]) + 1e-2, 0.02
    limit = 0.8 * max(float(row["range"]) for row in want)
    key = ("vehicle", "sensor", "scan", "ray")
    found = {tuple(row[k] for k in key): row for row in got}
    checked = [row for row in want if row["valid"] == "1" and float(row["range"]) < limit]
    bad = 0
    for row in checked:
        ours = found[tuple(row[k] for k in key)]
        assert abs(float(ours["t"]) - float(row["t"])) < 1e-6
        assert abs(float(ours["angle"]) - float(row["angle"])) < 1e-5
        bad += abs(float(ours["range"]) - float(row["range"])) > tolerance
    assert checked and bad <= share * len(checked), f"{bad} of {len(checked)} rays"


@pytest.mark.parametrize("case", cases())
def test_replays_the_reference(case: dict[str, Any], tmp_path: Path) -> None:
    folder = CASES / case["name"]
    world = World(folder / "world.xml")
    scans = tmp_path / "scans.csv" if case["scans"] else None
    replay(
        world, read_commands(folder / "commands.csv", world), case["duration"], tmp_path / "out.csv", scans
    )
    got = read(tmp_path / "out.csv")
    assert len(got) == case["steps"] + 1
    check_states(case, read(folder / case["output"]), got)
    if scans:
        check_scans(read(folder / case["scans"]), read(scans), (folder / "world.xml").read_text())
