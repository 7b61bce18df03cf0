"""Observation terms in Python and tracks of people on readings of a robot: they say what the environment says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_deploy_parity import replay

from mvsim_gym import TermError, VectorEnv
from mvsim_gym.deploy import Pipeline

NAV = "mvsim/NavArena-v0"


def everything(view: Any) -> Any:
    to_goal = view.goals - view.poses[:, :2]
    parts = [to_goal, view.poses, view.twists, view.times[:, None], view.actions, view.previous_actions]
    return np.concatenate([*parts, view.scans[:, :3], view.read("vehicle:robot/odometry")], axis=1)


def nearest(view: Any) -> Any:
    return view.observations["scan"].min(axis=1)


nearest.high = 1.0  # type: ignore[attr-defined]


@pytest.mark.parametrize("seed", range(3))
def test_terms_say_what_they_say_in_the_environment(seed: int) -> None:
    replay(NAV, range(seed, seed + 1), 40, observation_terms={"all": everything, "a_near": nearest})


def test_what_a_term_needs_is_a_source() -> None:
    slow = Pipeline(NAV, given=["goal", "velocity"], observation_terms={"sum": lambda v: v.read("attitude")})
    assert slow.sources == ["lidar", "goal", "velocity", "attitude"]
    assert Pipeline(NAV).sources == ["lidar", "pose", "goal", "velocity"]


def test_a_term_joins_the_flat_vector_in_the_order_of_keys() -> None:
    options: dict[str, Any] = {"observation_terms": {"near": nearest}, "flatten": True}
    pipeline = Pipeline(NAV, **options)
    pipeline.begin()
    pipeline.goal(1.0, 2.0)
    pipeline.scan("lidar", np.full(360, 0.5), -np.pi, np.pi / 180, 0.0)
    pipeline.pose(0, 0, 0, 0.0)
    pipeline.velocity(0, 0, 0.0)
    seen = pipeline.observe(0.0)
    space: Any = VectorEnv(NAV, num_envs=1, **options).single_observation_space
    assert seen.shape == space.shape and seen[3] == 0.5  # after the goal


@pytest.mark.parametrize(
    ("term", "message"),
    [
        (
            lambda view: view.wheels["slip_ratio"],
            "AttributeError: no robot has 'wheels' of the view of a term",
        ),
        (lambda view: view.random.uniform(), "no robot has 'random'"),
        (
            lambda view: view.read("block:box/pose"),
            "ValueError: no robot measures 'block:box/pose', expected time",
        ),
        (lambda view: view.read("vehicle:other/pose"), "no robot measures 'vehicle:other/pose'"),
        (lambda view: np.zeros((2, 3)), r"found float64 of the shape \(2, 3\), expected numbers \(1, size\)"),
        (lambda view: ["a"], "expected numbers"),
    ],
)
def test_what_no_robot_has_is_named_when_the_pipeline_is_built(term: Any, message: str) -> None:
    with pytest.raises(TermError, match=f"observation term 'mine': .*{message}|'mine': {message}"):
        Pipeline(NAV, observation_terms={"mine": term})


def test_names_of_the_environment_are_taken() -> None:
    with pytest.raises(
        ValueError, match="observation_terms: 'scan' is an observation of the environment already"
    ):
        Pipeline(NAV, observation_terms={"scan": nearest})


@pytest.mark.parametrize("env_id", ["mvsim/Crowd-v0", "mvsim/CrowdNav-v0", "mvsim/SocialNav-v0"])
def test_tracks_are_the_neighbours_of_the_environment(env_id: str) -> None:
    envs = VectorEnv(env_id, num_envs=1, autoreset_mode="Disabled", copy=True)
    pipeline = Pipeline(env_id, given=["neighbours"])
    (robot,) = {pipeline.vehicle.name}
    seen, _ = envs.reset(seed=4)
    action = np.array([[0.3, 0.2]], np.float32)
    found = 0
    for k in range(40):
        pose = envs.read(f"vehicle:{robot}/pose")[0]
        pipeline.pose(*pose, 0.1 * k)
        parts = [envs.read(f"body:*/{what}")[0] for what in ("pose", "velocity", "radius")]
        rows = np.column_stack(
            [parts[0].reshape(-1, 3)[:, :2], parts[1].reshape(-1, 2), parts[2].reshape(-1)]
        )
        pipeline.tracks("neighbours", rows[np.random.default_rng(k).permutation(len(rows))], 0.1 * k)
        for name in pipeline.sources:
            if name == "lidar":
                pipeline.scan(name, np.full(360, 3.0), -np.pi, np.pi / 180, 0.1 * k)
        pipeline.velocity(0, 0, 0.1 * k)
        if k == 0:
            pipeline.goal(0, 0)
        np.testing.assert_allclose(pipeline.observe(0.1 * k)["neighbours"], seen["neighbours"][0], atol=1e-6)
        found += int(seen["neighbours"][0][5::6].sum())
        seen, _, terminated, truncated, _ = envs.step(action)
        if (terminated | truncated).any():
            break
    assert found > 20
    envs.close()


def test_tracks_that_cannot_be_are_refused() -> None:
    pipeline = Pipeline("mvsim/Crowd-v0", given=["neighbours"])
    with pytest.raises(
        ValueError, match="tracks: found 'goal', expected an observation of the class neighbours"
    ):
        pipeline.tracks("goal", [], 0.0)
    pipeline.tracks("neighbours", [[0, 0, 0, 0, 0.3]], 0.0)
    assert pipeline.state(0.0)["neighbours"].note == "there is no pose"
    pipeline.pose(0, 0, 0, 0.0)
    pipeline.tracks("neighbours", [[np.nan, 0, 0, 0, 0.3]], 0.0)
    assert pipeline.state(0.0)["neighbours"].status == "impossible"
    pipeline.tracks("neighbours", [], 0.0)
    assert pipeline.state(0.0)["neighbours"].status == "fresh"
    with pytest.raises(ValueError, match=r"tracks: found the shape \(2,\), expected \(n, 5\)"):
        pipeline.tracks("neighbours", [1.0, 2.0], 0.0)
