"""`mvsim-gym evaluate --suite` and `--compare`: fixed episodes, and the interval of a difference."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mvsim_gym.tools import suite
from mvsim_gym.tools.cli import main
from mvsim_gym.tools.suite import paired_mean, paired_rates

ENV = "mvsim/NavArena-v0"


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Suites of 6 episodes."""
    monkeypatch.setattr(suite, "EPISODES", 6)


def written(path: Path, *more: str) -> dict[str, Any]:
    assert main(["evaluate", ENV, "--suite", "--set", "time_limit=4", "-o", str(path), *more]) == 0
    return dict(json.loads(path.read_text()))


def test_a_suite_is_the_same_whenever_it_runs(few: None, tmp_path: Path) -> None:
    first, second = (written(tmp_path / name) for name in ("a.json", "b.json"))
    assert first == second
    assert [row["seed"] for row in first["episodes"]] == list(range(1_000_000, 1_000_006))
    assert first["summary"]["ends"].keys() <= {"success", "collision", "timeout"}
    assert first["env"] == ENV and len(first["env_sha256"]) == 64
    assert first["settings"] == {"time_limit": 4}


def test_a_file_compared_with_itself_differs_by_nothing(
    few: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.json"
    written(path)
    capsys.readouterr()
    assert main(["evaluate", "--compare", str(path), str(path)]) == 0
    out = capsys.readouterr().out
    assert "6 episodes" in out and "return         +0.00  (+0.00 to +0.00)" in out
    success = next(line for line in out.splitlines() if line.startswith("success"))
    assert "+0.0" in success and success.endswith("percentage points")


def test_pairs_have_the_published_interval() -> None:
    """The interval of Agresti and Min for 12.5 pairs gained and 2.5 lost, of 52."""
    first = [True] * 2 + [False] * 12 + [True] * 36
    second = [False] * 2 + [True] * 12 + [True] * 36
    mean, low, high = paired_rates(first, second)
    assert mean == pytest.approx(0.2)
    half = 1.959964 * (12.5 + 2.5 - 10**2 / 52) ** 0.5 / 52
    assert (low, high) == pytest.approx((10 / 52 - half, 10 / 52 + half))
    assert paired_mean([1.0, 2.0, 3.0]) == pytest.approx((2, 2 - 1.959964 / 3**0.5, 2 + 1.959964 / 3**0.5))


def test_a_rate_has_wilsons_interval() -> None:
    """10 of 10: from n / (n + z^2) up to 1."""
    assert suite.wilson(10, 10) == pytest.approx((10 / (10 + 1.959964**2), 1))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "ENV_ID: found none"),
        ([ENV, "--suite", "--episodes", "3"], "--suite: found --episodes"),
        ([ENV, "--suite", "--worlds", "x"], "--worlds: found 'x' for mvsim/NavArena-v0"),
        ([ENV, "-o", "x.json"], "--worlds and --output: found one without --suite"),
        ([ENV, "--compare", "a", "b"], "--compare: found an environment"),
        (["--compare", "nowhere.json", "b"], "nowhere.json"),
    ],
)
def test_mistakes_are_one_line(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", *arguments]) == 1
    error = capsys.readouterr().err
    assert told in error and error.count("\n") == 1


def test_files_of_other_episodes_are_not_compared(
    few: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, other = tmp_path / "a.json", tmp_path / "b.json"
    found = written(path)
    for change, told in (
        ({"env_sha256": "0"}, "another environment file"),
        ({"episodes": found["episodes"][1:]}, "other episodes"),
        ({"episodes": []}, "is no file of"),
    ):
        other.write_text(json.dumps({**found, **change}))
        assert main(["evaluate", "--compare", str(path), str(other)]) == 1
        assert told in capsys.readouterr().err


def test_worlds_of_barn_need_an_index(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"index\.csv"):
        suite.suite_of("mvsim/Barn-v0", str(tmp_path))
    (tmp_path / "index.csv").write_text("world,optimal_time_s\n3,soon\n")
    with pytest.raises(ValueError, match=r"index\.csv:2: found"):
        suite.suite_of("mvsim/Barn-v0", str(tmp_path))
