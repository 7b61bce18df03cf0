"""Damaged robot descriptions: each gives a robot or one clear error, whatever its bytes are."""

# ruff: noqa: E501 (lines of XML)
from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from conftest import lasting
from test_robots import CLEARPATH, ROBOTS, robot_text, wheel

from mvsim_gym.robots import ImportRobotError, import_robot

XACRO = """<robot name="mine" xmlns:xacro="http://ros.org/wiki/xacro">
<xacro:property name="half" value="${0.5 / 2}"/><xacro:arg name="turn" default="1"/>
<xacro:macro name="part" params="side:=left y *origin"><link name="${side}"/><joint name="${side}_j" type="fixed">
<parent link="base_link"/><child link="${side}"/><xacro:insert_block name="origin"/></joint></xacro:macro>
<xacro:if value="$(arg turn)"><xacro:part side="top" y="${[half, 2][0]}"><origin xyz="0 0 ${half*2}"/></xacro:part></xacro:if>"""
TOKENS = [
    '"',
    "<",
    ">",
    "/",
    "${",
    "}",
    "$(",
    ")",
    "nan",
    "-1e308",
    "1e9",
    "",
    "\0",
    "é",
    "continuous",
    "revolute",
    "0 0 0",
]


def inputs() -> list[tuple[str, str]]:
    """Names and texts: small ones of each format, and real ones where they are."""
    body = robot_text().split(">", 1)[1]
    found = [("a.urdf", robot_text(wheel("front", 0.2, 0.3))), ("a.xacro", XACRO + body)]
    sdf = ROBOTS / "turtlebot3_sdf/turtlebot3_gazebo/models/turtlebot3_waffle_pi/model.sdf"
    for path in (sdf, CLEARPATH / "a200/a200.urdf.xacro", ROBOTS / "f1tenth/racecar.xacro"):
        if path.is_file():
            found.append((path.name, path.read_text()))
    return found


def damaged(text: str, draw: random.Random) -> bytes:
    """One or two changes: mostly a value that becomes another one, else a byte, a token, a line that is lost or doubled."""
    data = text.encode()
    for _ in range(draw.randint(1, 2)):
        values = list(re.finditer(rb'"[^"<>]*"|>[^<>]+<', data))
        lines = data.split(b"\n")
        at, line = draw.randrange(len(data) + 1), draw.randrange(len(lines))
        kind = draw.randrange(8)
        if kind < 5 and values:
            value = draw.choice(values)
            new = draw.choice([draw.choice(TOKENS).encode(), draw.choice(values).group()[1:-1]])
            data = data[: value.start() + 1] + new + data[value.end() - 1 :]
        elif kind == 5:
            data = data[:at] + bytes([draw.randrange(256)]) + data[at + 1 :]
        elif kind == 6:
            data = b"\n".join(lines[:line] + lines[line + 1 :])
        else:
            data = b"\n".join(lines[:line] + lines[line : line + draw.randrange(4)] + lines[line:])
    return data


def run(folder: Path, count: int, seed: int) -> dict[str, int]:
    """How many were imported and how many refused."""
    draw, found = random.Random(seed), {"imported": 0, "refused": 0}
    texts = inputs()
    for _ in range(count):
        name, text = draw.choice(texts)
        path = folder / name
        path.write_bytes(damaged(text, draw))
        packages = {"clearpath_platform_description": CLEARPATH.parent} if CLEARPATH.is_dir() else {}
        try:
            import_robot(path, packages=packages, tune=False)
            found["imported"] += 1
        except ImportRobotError as error:
            assert name in str(error) or "--package" in str(error) or ".xacro" in str(error)
            found["refused"] += 1
    return found


def test_a_hundred_damaged_descriptions(tmp_path: Path) -> None:
    found = run(tmp_path, 100, 7)
    assert found["imported"] > 2 and found["refused"] > 20


@pytest.mark.slow
def test_ten_thousand_damaged_descriptions(tmp_path: Path) -> None:
    count = lasting(10_000, 1_000)
    found = run(tmp_path, count, 17)
    assert found["imported"] > count // 20 and found["refused"] > count // 5
