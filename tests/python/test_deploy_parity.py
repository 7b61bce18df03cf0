"""`mvsim_gym.deploy.Pipeline` makes the observations and commands of every registered environment, bit for bit."""

from __future__ import annotations

import math
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, lasting
from deploy_replay import give, recorded

from mvsim_gym.deploy import Pipeline
from mvsim_gym.registration import listing

GIVEN = {  # of environments that observe what no robot has: what the caller gives instead
    "mvsim/Crowd-v0": ["neighbours"],
    "mvsim/CrowdNav-v0": ["neighbours"],
    "mvsim/RaceDuel-v0": ["opponent"],
    "mvsim/OffRoad-v0": ["wheels"],
    "mvsim/IceDrive-v0": ["wheels"],
    "mvsim/Slick-v0": ["wheels"],
    "mvsim/Greenhouse-v0": ["row_parity"],
    "mvsim/RowFollow-v0": ["row_parity"],
    "mvsim/SocialNav-v0": ["neighbours"],
    "mvsim/TrailerDock-v0": ["dock", "hitch", "near"],
}


LOST = {
    "drift": 0.1,
    "jump_rate": 1,
    "jump_sigma": 0.3,
    "jump_sigma_yaw": 20,
    "latency": "uniform(0, 0.3)",
}


def pipeline_of(env_id: str, **keywords: Any) -> Pipeline:
    return Pipeline(env_id, given=GIVEN.get(env_id, ()), **keywords)


class Commands:
    """The command of an action, by the formulas of docs/env-tasks.md."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline, self.steer = pipeline, 0.0

    def __call__(self, action: np.ndarray) -> dict[str, float]:
        p = self.pipeline
        share = 0.5 * (np.clip(action.astype(float), -1, 1) + 1)
        values = dict(zip(p.action_names, p.action_low + share * (p.action_high - p.action_low), strict=True))
        if "torque" in values:  # the world language's torques are negative forward
            return {n: -values["torque"] if "torque" in n else values["steer"] for n in p.command_names}
        if p.env in ("mvsim/Race-v0", "mvsim/RaceDuel-v0"):
            most = p.control_period * math.pi / 180 * 183
            values["steer"] = self.steer = min(max(values["steer"], self.steer - most), self.steer + most)
        return values


def replay(env_id: str, seeds: range, steps: int, **keywords: Any) -> None:
    pipeline = pipeline_of(env_id, **keywords)
    period = pipeline.control_period
    for seed in seeds:
        pipeline.begin()
        expected = Commands(pipeline)
        for k, moment in enumerate(recorded(env_id, pipeline, seed, steps, **keywords)):
            if "goal" in moment.readings and k == 0:
                pipeline.goal(*moment.readings["goal"])
            give(pipeline, moment, k * period)
            observation = pipeline.observe(k * period)
            assert list(observation) == sorted(moment.observation)
            for key, value in moment.observation.items():
                np.testing.assert_array_equal(
                    observation[key], value, err_msg=f"{env_id} {key} seed {seed} step {k}"
                )
                assert observation[key].dtype == value.dtype
            if moment.action is None:
                break
            command = pipeline.command(moment.action)
            wanted = expected(moment.action)
            assert list(command) == pipeline.command_names
            np.testing.assert_allclose(
                [command[n] for n in pipeline.command_names],
                [wanted[n] for n in pipeline.command_names],
                rtol=1e-15,
                atol=1e-15,  # two ways to round an angle
            )


@pytest.mark.parametrize("env_id", sorted(listing()))
def test_a_replayed_episode_gives_the_same_observations_and_commands(env_id: str) -> None:
    replay(env_id, range(1), 12)


@pytest.mark.parametrize("env_id", sorted(listing()))
def test_a_replayed_estimate_of_the_pose_gives_the_same_observations(env_id: str) -> None:
    if not {"pose", "velocity"} & set(pipeline_of(env_id).sources):
        pytest.skip("no observation needs a pose or a velocity")
    replay(env_id, range(1), 12, localization=LOST)


def test_waypoints_are_those_of_a_path_on_the_given_map(tmp_path: Path) -> None:
    """The map is the mirror image of the environment's own."""
    maps = ROOT / "worlds" / "maps"
    data = (maps / "office.pgm").read_bytes()
    kind, width, height, most, pixels = re.match(rb"(P5)\s+(\d+)\s+(\d+)\s+(\d+)\s(.*)", data, re.S).groups()  # type: ignore[union-attr]
    mirrored = np.frombuffer(pixels, np.uint8).reshape(int(height), int(width))[:, ::-1]
    header = b"%s\n%s %s\n%s\n" % (kind, width, height, most)
    (tmp_path / "office.pgm").write_bytes(header + mirrored.tobytes())
    shutil.copy(maps / "office.yaml", tmp_path / "mine.yaml")
    assert "waypoint" in {source.class_name for source in pipeline_of("mvsim/NavMap-v0")._core.sources}
    replay("mvsim/NavMap-v0", range(2), 30, map=str(tmp_path / "mine.yaml"))


@pytest.mark.slow
@pytest.mark.parametrize("env_id", sorted(listing()))
def test_replayed_episodes_give_the_same_observations_and_commands(env_id: str) -> None:
    replay(env_id, range(lasting(100, 3)), 1000 if "Depth" not in env_id and "Visual" not in env_id else 30)


@pytest.mark.parametrize("env_id", sorted(GIVEN))
def test_what_no_robot_has_is_named_with_what_would_replace_it(env_id: str) -> None:
    with pytest.raises(ValueError, match=f"privileged observations.*{GIVEN[env_id][0]} .*give its values"):
        Pipeline(env_id)
