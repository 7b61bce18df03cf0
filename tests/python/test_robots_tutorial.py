"""The tutorial from a URDF to a robot: its files, code and commands run in their order."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pages import blocks

from mvsim_gym.tools.cli import main

pytest.importorskip("scipy", reason="the extra identify is not installed")
pytest.importorskip("rosbags", reason="the extra record is not installed")
pytest.importorskip("matplotlib", reason="the extra plot is not installed")

PAGE = "robots-tutorial.md"
OTHER_PROGRAMS = ("pip", "ros2")


def ranges_in(path: Path) -> dict[str, tuple[float, float]]:
    """Returns the ranges of the `<randomize>` elements of a file, by the path of the parameter."""
    pattern = r"vehicle:porter/([\w/]+)\" value=\"uniform\(([\d.]+), ([\d.]+)\)"
    return {name: (float(low), float(high)) for name, low, high in re.findall(pattern, path.read_text())}


@pytest.mark.slow
@pytest.mark.unsanitized
def test_the_tutorial_from_a_urdf_to_a_robot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Fitted values are those of the robot that was driven, inside of the ranges that the page prints."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    commands = []
    for block in blocks():
        if block.page != PAGE:
            continue
        if block.language == "xml":
            suffix = "" if block.mark.endswith(".urdf") else ".xml"
            (tmp_path / f"{block.mark}{suffix}").write_text(block.text)
        elif block.language == "python":
            exec(block.text, names)
        else:
            for line in block.text.splitlines():
                words = shlex.split(line)
                if words[0] not in OTHER_PROGRAMS:
                    assert words[0] == "mvsim-gym" and main(words[1:]) == 0, line
                    commands.append(words[1])
    assert commands == ["import", "validate", "show", "compare", "identify", "parameters"]
    assert not names["world"].warnings
    printed = capsys.readouterr().out
    assert ": good" in printed and "none is stated: 0.8 is used" in printed
    found, shown = (ranges_in(tmp_path / name) for name in ("fitted.randomize.xml", "porter.env.xml"))
    for name, true in {"wheels/track": 1.06, "friction/C_rr": 0.03}.items():
        assert found[name][0] <= true <= found[name][1]
        assert shown[name] == pytest.approx(found[name], rel=2e-3)
        assert np.mean(found[name]) == pytest.approx(true, rel=0.002)
