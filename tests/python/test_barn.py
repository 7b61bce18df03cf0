"""The worlds of mvsim/Barn-v0, its scores, and the public worlds where they are at hand."""

from __future__ import annotations

import csv
import math
import random
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

import mvsim_gym
from mvsim_gym.tools.suite import barn_scores, suite_of

sys.path.append(str(ROOT / "examples"))
from baselines import policies

BARN = "mvsim/Barn-v0"
WORLDS = ROOT / "worlds" / "barn"
PUBLIC = ROOT.parent / "shared" / "maps" / "barn"


def index(folder: Path) -> list[dict[str, str]]:
    with open(folder / "index.csv", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def make() -> dict[str, object]:
    return runpy.run_path(str(WORLDS / "make_worlds.py"))


def test_the_worlds_are_those_of_their_script(make: dict[str, object]) -> None:
    rows = index(WORLDS)
    assert [row["part"] for row in rows] == ["train"] * 250 + ["test"] * 50
    for number in (0, 9, 128, 250, 299):
        field, row = make["world"](number)  # type: ignore[operator]
        assert list(map(str, row)) == list(rows[number].values())
        assert (WORLDS / f"world_{number}.png").read_bytes() == make["picture"](field)  # type: ignore[operator]


def test_the_path_of_an_empty_field_is_straight(make: dict[str, object]) -> None:
    """From a cell of the first row to one of the last, over diagonals as far as these lie aside."""
    field = [[column in (0, 29) for column in range(30)] for _ in range(30)]
    path = make["reference_path"](field, random.Random(1))  # type: ignore[operator]
    (first, start), (last, end) = path[0], path[-1]
    assert (first, last, len(path)) == (0, 29, 30) and {start, end} <= set(range(3, 27))
    ends = [math.hypot(0.15 * (c + 0.5) - 2.25, y) for c, y in ((start, 5.175 - 3), (end, 13 - 9.525))]
    aside = abs(end - start)
    expected = 0.15 * (29 - aside + math.sqrt(2) * aside) + sum(ends)
    assert make["path_length"](path) == pytest.approx(expected)  # type: ignore[operator]
    assert make["passage_width"](field) == pytest.approx(28 * 0.15)  # type: ignore[operator]
    field[15] = [True] * 30
    assert make["reference_path"](field, random.Random(1)) is None  # type: ignore[operator]


def test_a_passage_is_as_wide_as_its_gap(make: dict[str, object]) -> None:
    """Four free cells between cylinders are too narrow for a path, five are 0.75 m and wide enough."""
    for cells, wide_enough in ((4, False), (5, True)):
        field = [[column in (0, 29) for column in range(30)] for _ in range(30)]
        field[15] = [not 10 <= column < 10 + cells for column in range(30)]
        assert make["passage_width"](field) == pytest.approx(0.15 * cells)  # type: ignore[operator]
        path = make["reference_path"](field, random.Random(1))  # type: ignore[operator]
        assert (path is not None) == wide_enough
        if path is not None:
            room = make["clearances"](field, path)  # type: ignore[operator]
            assert len(room) == len(path) and min(room) == pytest.approx(0.375)


def test_worlds_are_as_wide_as_those_of_the_data_set() -> None:
    """Fitted: quartiles of the fill lie near 0.074, 0.110 and 0.151 and of paths near 10.85, 11.09 and 11.73 m."""
    rows = index(WORLDS)
    assert min(float(row["passage_width_m"]) for row in rows) == 0.75
    fills, lengths = (
        np.percentile([float(row[name]) for row in rows], (25, 50, 75))
        for name in ("field_fill", "path_length_m")
    )
    np.testing.assert_allclose(fills, (0.074, 0.110, 0.151), atol=0.015)
    np.testing.assert_allclose(lengths, (10.85, 11.09, 11.73), atol=0.2)


def test_an_episode_is_in_the_world_that_its_seed_names() -> None:
    """The same scan as in the file of that number; another seed is another world."""
    scans = []
    for seed in (250, 251):
        envs = mvsim_gym.VectorEnv(BARN, num_envs=1, variants=1, world_seed=seed)
        scans.append(envs.reset(seed=0, options={"pose": [-2.25, 4, math.pi / 2]})[0]["scan"][0])
        by_file = mvsim_gym.VectorEnv(
            BARN, num_envs=1, variants=1, map=str(WORLDS / f"world_{seed}.yaml"), roots=[str(WORLDS)]
        )
        same = by_file.reset(seed=0, options={"pose": [-2.25, 4, math.pi / 2]})[0]["scan"][0]
        np.testing.assert_array_equal(scans[-1], same)
    assert np.abs(scans[0] - scans[1]).max() > 0.3


def test_a_world_that_is_not_there_names_the_file() -> None:
    with pytest.raises(mvsim_gym.WorldFileError, match=r"world_300\.yaml"):
        mvsim_gym.VectorEnv(BARN, num_envs=1, variants=1, world_seed=300)


def test_scores_are_those_of_the_challenge() -> None:
    assert barn_scores(True, 10.0, 5.0) == (0.5, 0.25)
    assert barn_scores(True, 30.0, 5.0) == pytest.approx((1 / 6, 1 / 6))
    assert barn_scores(True, 90.0, 5.0) == pytest.approx((1 / 8, 1 / 8))
    assert barn_scores(False, 10.0, 5.0) == (0.0, 0.0)


def test_the_suite_has_ten_runs_in_each_test_world() -> None:
    parts = suite_of(BARN)
    assert [part.keywords["world_seed"] for part in parts] == list(range(250, 300))
    seeds = [part.seed + k for part in parts for k in range(part.episodes)]
    assert len(set(seeds)) == 500 == len(seeds)
    assert all(part.optimal_time and part.optimal_time >= 5 for part in parts)


def test_the_cases_of_crowd_nav_have_one_start() -> None:
    (part,) = suite_of("mvsim/CrowdNav-v0")
    assert part.episodes == 500
    envs = mvsim_gym.VectorEnv("mvsim/CrowdNav-v0", num_envs=40, **part.keywords)
    observation, _ = envs.reset(seed=part.seed, options=part.options)
    np.testing.assert_allclose(observation["goal"], [[8, 1, 0]] * 40, atol=1e-6)
    people = observation["neighbours"].reshape(40, 5, 6)
    assert (np.hypot(people[..., 0], people[..., 1])[people[..., 5] > 0] > 0.6).all()


@pytest.mark.skipif(not PUBLIC.is_dir(), reason="the public worlds are not at hand")
def test_public_worlds_can_be_driven() -> None:
    """World 36, whose way has 0.7 m of room beside it."""
    assert len(suite_of(BARN, str(PUBLIC))) == len(index(PUBLIC)) == 30
    part = next(part for part in suite_of(BARN, str(PUBLIC)) if part.name == "world 36")
    assert part.optimal_time == pytest.approx(10.531 / 2, abs=1e-3)
    envs = mvsim_gym.VectorEnv(BARN, num_envs=2, **part.keywords)
    observation, _ = envs.reset(seed=3)
    policy = policies(BARN)["MPPI"]
    for _ in range(30):
        observation, _, terminated, _, _ = envs.step(policy(observation))
        assert not terminated.any()
    assert (observation["goal"][:, 0] < 8).all()
