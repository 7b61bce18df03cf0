"""TrailerDock: where it starts, how its rig moves, what the dock demands, and the script that solves it."""

from __future__ import annotations

import sys

import gymnasium as gym
import numpy as np
import pytest
from conftest import ROOT, equal

import mvsim_gym

sys.path.append(str(ROOT / "examples"))
import trailer_policies as rig
from baselines import policies
from evaluation import evaluate
from robot import Robot

DOCK = "mvsim/TrailerDock-v0"


def axle_of(pose: np.ndarray) -> np.ndarray:
    """The middle of the trailer's axles [..., 2] at its pose [..., 3]."""
    yaw = pose[..., 2]
    return np.asarray(pose[..., :2] - rig.DRAWBAR * np.stack([np.cos(yaw), np.sin(yaw)], axis=-1))


def wrapped(angle: np.ndarray) -> np.ndarray:
    return np.asarray((angle + np.pi) % (2 * np.pi) - np.pi)


@pytest.mark.parametrize(
    ("knobs", "ranges"),
    [
        ({}, [(12, 25), (-5, 5), (-0.5, 0.5), (-0.3, 0.3)]),
        (
            {"area": "4 8 -1 1", "yaw": "-6 6", "hitch": "-3 3"},
            [(4, 8), (-1, 1), (-0.105, 0.105), (-0.053, 0.053)],
        ),
    ],
)
def test_starts_are_drawn_from_the_whole_ranges(
    knobs: dict[str, str], ranges: list[tuple[float, float]]
) -> None:
    envs = mvsim_gym.VectorEnv(DOCK, num_envs=500, **knobs)
    observation, _ = envs.reset(seed=2)
    truck, trailer = envs.read("vehicle:truck/pose"), envs.read("vehicle:trailer/pose")
    axle, hitch = axle_of(trailer), wrapped(trailer[:, 2] - truck[:, 2])
    np.testing.assert_allclose(truck[:, :2], trailer[:, :2], atol=1e-9)  # both have the hitch as their origin
    found = [axle[:, 0], axle[:, 1], wrapped(trailer[:, 2]), hitch]
    for values, (low, high) in zip(found, ranges, strict=True):
        margin = 0.03 * (high - low)
        assert low - 1e-3 < values.min() < low + margin and high - margin < values.max() < high + 1e-3
    np.testing.assert_allclose(observation["dock"][:, :2], axle, atol=1e-5)
    np.testing.assert_allclose(
        observation["dock"][:, 2:], np.stack([np.cos(found[2]), np.sin(found[2])], 1), atol=1e-5
    )
    np.testing.assert_allclose(observation["near"], np.clip(axle, -2, 2), atol=1e-5)
    np.testing.assert_allclose(observation["hitch"], np.stack([np.cos(hitch), np.sin(hitch)], 1), atol=1e-5)
    envs.close()


def test_in_a_circle_the_trailer_takes_the_angle_of_its_tractrix() -> None:
    """sin(hitch) = drawbar times curvature, but for the slip of tires."""
    robot, steer = Robot(DOCK), np.deg2rad(25)
    for side in (1, -1):
        envs = mvsim_gym.VectorEnv(
            DOCK, num_envs=1, area=f"15 15 {-5 * side} {-5 * side}", yaw="0 0", hitch="0 0"
        )
        observation, _ = envs.reset(seed=1)
        action = robot.as_actions(np.array([[1, side * steer]]))
        for _ in range(80):
            observation, _, terminated, *_ = envs.step(action)
            assert not terminated.any()
        angle = float(np.arctan2(observation["hitch"][0, 1], observation["hitch"][0, 0]))
        expected = -side * np.arcsin(rig.DRAWBAR * np.tan(steer) / rig.WHEELBASE)
        assert abs(angle - expected) < 0.06, (angle, expected)
        envs.close()


def test_backwards_the_rig_folds_unless_it_is_steered() -> None:
    env = gym.make(DOCK, area="20 25 -1 1", yaw="0 0", hitch="-6 -5")
    env.reset(seed=1)
    for _ in range(400):
        *_, terminated, _, info = env.step(np.array([-1, 0], np.float32))
        if terminated:
            break
    assert info["terminated/hitch"] and not info["success"]
    env.close()


def test_progress_adds_up_and_errors_are_paid() -> None:
    """The return of episodes, by the formula of the task, from the poses alone."""
    envs = mvsim_gym.VectorEnv(DOCK, num_envs=64, autoreset_mode="SameStep")
    policy, rng = policies(DOCK)["LQR with pull-ups"], np.random.default_rng(0)
    observation, _ = envs.reset(seed=5)
    start = np.abs(observation["dock"].astype(float))
    potential = (
        0.6 * start[:, 0]
        + start[:, 1]
        + 2 * np.abs(np.arctan2(observation["dock"][:, 3], observation["dock"][:, 2]))
    )
    hitch, steps, seen = np.zeros(64), np.zeros(64), np.zeros(64, bool)
    for _ in range(400):
        actions = policy(observation)
        actions[::2] = rng.uniform(-1, 1, (32, 2))  # half of them fail
        observation, _, terminated, truncated, info = envs.step(actions)
        ended = (terminated | truncated) & ~seen
        last = observation
        if ended.any():
            final = {key: np.array(observation[key]) for key in ("dock", "hitch")}
            for i in ended.nonzero()[0]:
                for key, rows in final.items():
                    rows[i] = info["final_obs"][i][key]
            last = final
        angle = np.arctan2(last["hitch"][:, 1], last["hitch"][:, 0]).astype(float)
        hitch[~seen] += angle[~seen] ** 2
        steps[~seen] += 1
        for i in ended.nonzero()[0]:
            x, y, c, s = last["dock"][i].astype(float)
            yaw = abs(np.arctan2(s, c))
            docked = x < 0.15 and abs(y) < 0.25 and yaw < np.deg2rad(5.73)
            ends = {key: values[i] for key, values in info["final_info"].items()}
            assert bool(ends["success"]) == docked
            wanted = {
                "dock_progress": 0.5 * (potential[i] - 0.6 * abs(x) - abs(y) - 2 * yaw),
                "time": -0.02 * steps[i],
                "hitch": -0.05 * hitch[i],
                "docked": 15.0 * docked,
                "dock_error": -(4 * abs(y) + 6 * yaw) * (x < 0.15 and not docked),
                "failure": -3.0 * bool(terminated[i] and not docked),
            }
            for key, value in wanted.items():
                assert ends[f"reward/{key}"] == pytest.approx(value, abs=2e-4), key
            assert ends["dock_lateral"] == pytest.approx(abs(y), abs=1e-5)
            assert ends["dock_angle"] == pytest.approx(yaw, abs=1e-5)
        seen |= ended
        if seen.all():
            break
    assert seen.all()
    envs.close()


def test_the_gain_of_the_script_solves_its_riccati_equation() -> None:
    a, b, k = rig.BACKWARDS, rig.BY_CURVATURE, rig.GAIN
    closed = a - np.outer(b, k)
    assert (np.linalg.eigvals(closed).real < 0).all() and np.linalg.eigvals(a).real.max() > 0

    # another gain does not lower the integral of the costs from three starts
    def cost(gain: np.ndarray) -> float:
        x, step, total = np.eye(3), 0.05, 0.0
        for _ in range(4000):
            u = -gain @ x
            total += step * float((np.array(rig.COSTS) @ x**2).sum() + rig.EFFORT * (u**2).sum())
            x = x + step * (a @ x + np.outer(b, u))
        return total

    best = cost(k)
    for i in range(3):
        for factor in (0.9, 1.1):
            other = k.copy()
            other[i] *= factor
            assert cost(other) > best


def test_the_script_docks_from_everywhere() -> None:
    found = evaluate(DOCK, policies(DOCK)["LQR with pull-ups"], range(7, 67))
    assert found["success"] >= 0.95


@pytest.mark.parametrize("command", [(0, 0), (-2, 0), (1, 0), (-2, 0.3), (1, 0.3)])
def test_commands_that_do_not_look_do_not_dock(command: tuple[float, float]) -> None:
    action = Robot(DOCK).as_actions(np.array([command]))
    found = evaluate(DOCK, lambda o: np.tile(action, (len(o["dock"]), 1)), range(100))
    assert found["success"] <= 0.03 and found["return"] < 0


def test_a_restored_rig_goes_on_as_it_did() -> None:
    envs = mvsim_gym.VectorEnv(DOCK, num_envs=3)
    envs.reset(seed=4)
    rng = np.random.default_rng(1)
    actions = rng.uniform(-1, 1, (40, 3, 2)).astype(np.float32)
    for action in actions[:20]:
        envs.step(action)
    state = envs.get_state()
    first = [envs.step(action) for action in actions[20:]]
    envs.set_state(None, state)
    equal(first, [envs.step(action) for action in actions[20:]])
    envs.close()


def test_mistakes() -> None:
    for keywords, message in (
        ({"dock": {"lateral": 0}}, "lateral"),
        ({"dock": {"of": "wagon"}}, "expected 'robot' or 'trailer'"),
        ({"dock": {"off": "trailer"}}, "did you mean 'of'"),
        ({"dock": None}, "expected a <dock>"),
        ({"hitch": "0 200"}, "hitch"),
        ({"area": "12 25 -5 5 1"}, "area"),
    ):
        with pytest.raises(Exception, match=message):
            mvsim_gym.VectorEnv(DOCK, num_envs=1, **keywords).reset(seed=0)
    with pytest.raises(Exception, match="the robot and its trailer need"):
        mvsim_gym.VectorEnv(DOCK, num_envs=1, area="-2.9 -2 -5 5").reset(seed=0)
