"""The camera "follow": robot and goal are seen, and seen large enough; the trail is where the robot was."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

import mvsim_gym
from mvsim_gym._picture import draw_line, mark_goal, window_on


@pytest.mark.parametrize("distance", [0, 0.5, 3, 7, 9, 100])
def test_the_window_holds_the_robot_and_a_goal_that_is_not_too_far(distance: float) -> None:
    radius, robot = 0.25, (3.0, -2.0)
    for angle in np.linspace(0, 2 * np.pi, 13):
        goal = (robot[0] + distance * np.cos(angle), robot[1] + distance * np.sin(angle))
        x0, x1, y0, y1 = window_on(robot, radius, goal)
        assert x1 - x0 == pytest.approx(y1 - y0)
        assert 2 * radius / (x1 - x0) >= 1 / 20 - 1e-9
        room = min(robot[0] - x0, x1 - robot[0], robot[1] - y0, y1 - robot[1])
        assert room >= 2.9 * radius
        inside = x0 < goal[0] < x1 and y0 < goal[1] < y1
        assert inside or distance > 8


def test_without_a_goal_the_robot_is_in_the_middle() -> None:
    assert window_on((1.0, 2.0), 0.1, None) == pytest.approx((0.5, 1.5, 1.5, 2.5))


def test_a_line_covers_what_lies_on_it() -> None:
    picture = np.zeros((40, 60, 3), np.uint8)
    draw_line(picture, np.array([[5.0, 20.0], [50.0, 20.0], [50.0, 500.0]]), 3, (200, 100, 50))
    assert (picture[19:21, 6:49, 0] > 150).all() and (picture[22:, 49:51, 0] > 150).all()
    assert not picture[:17].any() and not picture[24:, :47].any()


def test_a_goal_out_of_sight_is_marked_at_the_edge() -> None:
    seen, unseen = (np.zeros((40, 60, 3), np.uint8) for _ in range(2))
    mark_goal(seen, np.array([50.0, 30.0]), 4)
    mark_goal(unseen, np.array([500.0, 20.0]), 4)
    assert not seen.any()
    assert unseen[20, 56].any() and not unseen[:, :50].any()


def test_the_trail_begins_anew_with_an_episode() -> None:
    """A picture after others differs from a first one by the trail alone; both are the same after a reset."""
    env = gym.make("mvsim/OffRoad-v0", render_mode="rgb_array", camera="follow", width=200, height=200)
    twin = gym.make("mvsim/OffRoad-v0", render_mode="rgb_array", camera="follow", width=200, height=200)
    for e in (env, twin):
        e.reset(seed=1)
    for _ in range(15):
        env.render()
        for e in (env, twin):
            e.step(np.array([1, 0], np.float32))
    with_trail, without = env.render(), twin.render()
    assert isinstance(with_trail, np.ndarray) and isinstance(without, np.ndarray)
    assert 20 < (with_trail != without).any(axis=2).sum() < 2000
    for e in (env, twin):
        e.reset(seed=2)
    assert np.array_equal(np.asarray(env.render()), np.asarray(twin.render()))


def test_a_restored_env_has_no_trail() -> None:
    """Its pictures are those of one that was drawn never before."""
    keywords = {"render_mode": "rgb_array", "camera": "follow", "width": 120, "height": 120}
    env, single = (mvsim_gym.Env("mvsim/OffRoad-v0", **keywords) for _ in range(2))  # type: ignore[arg-type]
    envs = mvsim_gym.VectorEnv("mvsim/OffRoad-v0", num_envs=2, **keywords)  # type: ignore[arg-type]
    env.reset(seed=1)
    start = env.snapshot()
    for _ in range(15):
        env.render()
        env.step(np.array([1, 0], np.float32))
    env.render()
    single.restore(start)
    env.restore(start)
    assert np.array_equal(np.asarray(env.render()), np.asarray(single.render()))

    envs.reset(seed=1)
    for _ in range(15):
        envs.render()
        envs.step(np.array([[1, 0], [1, 0]], np.float32))
    kept = envs.render()
    envs.set_state([0], bytearray(start))
    pictures = envs.render()
    assert kept is not None and pictures is not None
    assert np.array_equal(pictures[0], np.asarray(single.render()))
    assert np.array_equal(pictures[1], kept[1])  # the other keeps its own
