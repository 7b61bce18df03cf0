"""Rows of the leaderboard: made of results of the suite, checked, and drawn as a table."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from mvsim_gym.tools import suite
from mvsim_gym.tools.suite import evaluate_suite

sys.path.append(str(ROOT / "docs"))
import leaderboard

ENV = "mvsim/NavArena-v0"


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("suite") / "random.json"
    evaluate_suite(ENV, "random", output=str(path))
    return dict(json.loads(path.read_text()))


def test_the_interquartile_mean_is_that_of_the_middle_half() -> None:
    assert leaderboard.interquartile_mean([0.5]) == 0.5
    assert leaderboard.interquartile_mean([4, 1, 2, 100]) == pytest.approx(3)
    assert leaderboard.interquartile_mean([0, 1, 2, 3, 40]) == pytest.approx((0.75 + 2 + 0.75 * 3) / 2.5)


def test_a_row_keeps_every_outcome_and_the_hash(result: dict[str, Any]) -> None:
    row = leaderboard.row_of([result, result], "random", "")
    assert leaderboard.checked(row, "row") == row
    won = [episode["success"] for episode in result["episodes"]]
    assert [ends == "1" for ends in row["policies"][0]["success"]] == won and len(won) == suite.EPISODES
    assert row["env_sha256"] == leaderboard.env_hash(ENV)
    cells = leaderboard.cells(row)
    assert cells[0] == f"`{ENV}`" and cells[2] == f"{100 * sum(won) / len(won):.1f} %" and cells[5] == "2"
    assert cells[-1].endswith(f"`{row['env_sha256'][:8]}`")
    assert leaderboard.cells({**row, "env_sha256": "0" * 64})[-1].endswith("an older file")


def test_rows_that_do_not_fit_are_refused(result: dict[str, Any]) -> None:
    row = leaderboard.row_of([result], "random", "")
    policy = row["policies"][0]
    flipped = policy["success"].translate(str.maketrans("01", "10"))
    for broken, error in (
        ({**row, "policies": [{**policy, "success": flipped}]}, "expected .* of its episodes"),
        ({**row, "policies": [{**policy, "success": policy["success"][1:]}]}, "0 or 1 for each of the 500"),
        ({**row, "env": "mvsim/Nothing-v0"}, "expected one of the package"),
        ({key: value for key, value in row.items() if key != "link"}, "expected the keys"),
    ):
        with pytest.raises(ValueError, match=error):
            leaderboard.checked(broken, "row")
    other = {**result, "env_sha256": "0" * 64}
    with pytest.raises(ValueError, match="expected the same in all files"):
        leaderboard.row_of([result, other], "random", "")
    with pytest.raises(ValueError, match="expected the 500 of its suite"):
        leaderboard.row_of([{**result, "episodes": result["episodes"][:7]}], "random", "")


def test_the_rows_of_the_repository_are_sound() -> None:
    rows = leaderboard.rows()
    assert rows and leaderboard.table().count("\n") == len(rows) + 1


def test_a_method_that_breaks_the_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("{}")
    command = [sys.executable, str(ROOT / "docs" / "leaderboard.py"), str(path), "--method", "a | b"]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 2 and "expected plain text" in ran.stderr
