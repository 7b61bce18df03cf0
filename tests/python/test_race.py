"""Races: the generated tracks, progress along a centreline, races of two."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from conftest import ROOT

import mvsim_gym

sys.path.append(str(ROOT / "examples"))
from baselines import policies
from duel_evaluation import duel_table, evaluate_duel
from evaluation import evaluate

TRACKS = ROOT / "worlds" / "tracks"
NAMES = ["bean", "bends", "loop"]
RACE, DUEL = "mvsim/Race-v0", "mvsim/RaceDuel-v0"


def along(track: str, positions: np.ndarray) -> tuple[np.ndarray, float]:
    """How far along a centreline its nearest point to each position [n, 2] lies, and its length: by brute force."""
    corners = np.loadtxt(TRACKS / f"{track}.csv")
    steps = np.roll(corners, -1, axis=0) - corners
    lengths = np.linalg.norm(steps, axis=1)
    part = np.clip(((positions[:, None] - corners) * steps).sum(axis=2) / lengths**2, 0, 1)
    distance = np.linalg.norm(positions[:, None] - (corners + part[..., None] * steps), axis=2)
    nearest = distance.argmin(axis=1)
    rows = np.arange(len(positions))
    return (np.cumsum(lengths) - lengths)[nearest] + part[rows, nearest] * lengths[nearest], lengths.sum()


def test_the_tracks_are_those_of_their_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(TRACKS / "make_tracks.py"), run_name="__main__")
    drawn = sorted(path.name for path in tmp_path.iterdir())
    assert drawn == sorted(f"{name}{ending}" for name in NAMES for ending in (".csv", ".track.xml"))
    for name in drawn:
        assert (tmp_path / name).read_text() == (TRACKS / name).read_text(), name


@pytest.mark.parametrize("track", NAMES)
def test_every_track_can_be_driven(track: str) -> None:
    for name in ("pure pursuit", "follow the gap"):
        row = evaluate(RACE, policies(RACE)[name], range(8), track=track)
        assert row["success"] >= (1 if track == "loop" else 0.75), name


def test_progress_telescopes_along_the_centreline() -> None:
    """On every way, the sum is that from the first place to the last, counted on over the line."""
    keywords: dict[str, Any] = {"time_limit": 16, "terminate": {"laps": False}}
    envs = mvsim_gym.VectorEnv(RACE, num_envs=8, autoreset_mode="Disabled", **keywords)
    policy, rng = policies(RACE)["pure pursuit"], np.random.default_rng(0)
    observation, _ = envs.reset(seed=2)
    place, length = along("loop", envs.read("vehicle:car1/pose")[:, :2])
    way, ways = np.zeros(8), []
    for _ in range(400):
        actions = policy(observation)
        actions[::2] = rng.uniform(-1, 1, (4, 2))  # half of them crash
        observation, _, terminated, truncated, info = envs.step(actions)
        new, _ = along("loop", envs.read("vehicle:car1/pose")[:, :2])
        way += (new - place + length / 2) % length - length / 2
        place, ended = new, terminated | truncated
        if ended.any():
            np.testing.assert_allclose(info["reward/track_progress"][ended], way[ended], atol=1e-4)
            ways += way[ended].tolist()
            observation, _ = envs.reset(options={"reset_mask": ended})
            way[ended] = 0
            place, _ = along("loop", envs.read("vehicle:car1/pose")[:, :2])
    assert len(ways) > 20 and sum(one > 1.2 * length for one in ways) == 4


def test_driving_backwards_over_the_line_is_no_lap() -> None:
    env = gym.make(RACE, action={"vx": "-2 2"}, reset={"line_up": {"lateral": 0, "yaw": 0, "speed": None}})
    policy = np.array([-1, 0], np.float32)
    env.reset(seed=0)
    total, ended, info = 0.0, False, {}
    while not ended:
        _, reward, terminated, truncated, info = env.step(policy)
        total += float(reward)
        ended = terminated or truncated
    assert total < 0 and not info["success"] and info["reward/lap"] == 0
    assert info["terminated/backwards"] and info["time"] < 3


def test_less_grip_is_harder() -> None:
    policy = policies(RACE)["pure pursuit"]
    rates = [evaluate(RACE, policy, range(40), grip=grip)["success"] for grip in (1.05, 0.8, 0.6)]
    assert rates[0] > rates[1] + 0.2 > rates[2] + 0.4, rates


def test_cars_begin_one_behind_the_other() -> None:
    """1.5 to 4 m apart, at one speed, either of them ahead."""
    envs = mvsim_gym.VectorEnv(DUEL, num_envs=400)
    envs.reset(seed=0)
    poses, twists = envs.read("vehicle:car*/pose"), envs.read("vehicle:car*/twist")
    apart = []
    for car in range(2):
        place, length = along("loop", poses[:, car, :2])
        apart.append(place)
    gap = (apart[1] - apart[0] + length / 2) % length - length / 2
    assert np.abs(gap).min() > 1.2 and np.abs(gap).max() < 4.5  # noise moves places along a bend
    assert 0.4 < (gap > 0).mean() < 0.6
    np.testing.assert_allclose(twists[:, 0, 0], twists[:, 1, 0], atol=1e-5)
    assert twists[:, 0, 0].min() >= 0 and twists[:, 0, 0].max() <= 2.001


def test_the_faster_car_wins() -> None:
    drivers = policies(DUEL)
    row = evaluate_duel(DUEL, drivers["follow the gap"], drivers["pure pursuit"], range(12))
    assert row["wins"][1] > 0.8 > 0.2 > row["wins"][0] and sum(row["wins"]) <= 1
    assert row["races"] == 12 and duel_table({"a": row}).count("%") == 4
    same = evaluate_duel(DUEL, drivers["pure pursuit"], drivers["pure pursuit"], range(12))
    assert sum(same["wins"]) == pytest.approx(1) and same["crashes"] == [0, 0]


def test_respawned_cars_race_on() -> None:
    """A car that begins anew has a lap of its own; the one that goes on is not paid for it."""
    envs = mvsim_gym.VectorEnv(DUEL, num_envs=16, on_end="respawn", autoreset_mode="SameStep")
    rng = np.random.default_rng(0)
    observation, _ = envs.reset(seed=1)
    drive, ended = policies(DUEL)["pure pursuit"], 0
    for _ in range(400):
        actions = drive(observation)
        actions[::2] = rng.uniform(-1, 1, (8, 2))
        observation, reward, terminated, truncated, _ = envs.step(actions)
        ended += int((terminated | truncated).sum())
        assert np.abs(reward).max() < 22  # a crash, a contact, an overtaking; never the length of a track
    assert ended > 100
