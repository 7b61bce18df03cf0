"""Time limits: ours in seconds or steps, and Gymnasium's, which stands outside of the environment."""

from __future__ import annotations

import copy
import pickle

import gymnasium as gym
import numpy as np
import pytest
from conftest import equal, short

import mvsim_gym


def test_an_outer_time_limit_finds_its_infos(env_id: str) -> None:
    """Gymnasium's TimeLimit stands outside: what it cuts is answered as a time limit of ours would have it."""
    outer = gym.make(env_id, max_episode_steps=7, spl=True, time_limit=None)
    ours = gym.make(env_id, spl=True, **short(env_id, 7))
    for env in (outer, ours):
        env.reset(seed=0)
    action = np.array([0.3, 0.1], np.float32)
    for _ in range(7):
        step, expected = outer.step(action), ours.step(action)
    assert step[2:4] == expected[2:4] == (False, True) and step[4] == {} and "time" in expected[4]
    asked = {key: step[4][key] for key in expected[4]}
    equal(asked, expected[4])
    equal(dict(step[4]), expected[4])
    with pytest.raises(KeyError, match="no_such_key"):
        step[4]["no_such_key"]


def test_asking_for_infos_changes_nothing() -> None:
    asked, same = (mvsim_gym.Env("mvsim/NavArena-v0", time_limit=3) for _ in range(2))
    for env in (asked, same):
        env.reset(seed=0)
    action = np.array([0.3, np.nan])  # a bad action tells of itself
    for count in range(1, 6):
        step, other = asked.step(action), same.step(action)
        assert step[4] == other[4] == {"bad_action": count}
        assert step[4]["timeout"] and not step[4]["success"] and step[4]["bad_action"] == count
    equal(asked.step(np.zeros(2, np.float32)), same.step(np.zeros(2, np.float32)))
    assert asked.snapshot() == same.snapshot()


def test_an_info_answers_until_the_next_step() -> None:
    env = mvsim_gym.Env("mvsim/NavArena-v0")
    env.reset(seed=0)
    action = np.zeros(2, np.float32)
    state = env.snapshot()
    for go_on in (lambda: env.step(action), env.reset, lambda: env.restore(state)):
        info = env.step(action)[4]
        go_on()  # type: ignore[operator]
        with pytest.raises(KeyError, match="success: this step ended no episode"):
            info["success"]
        env.reset(seed=0)
    info = env.step(action)[4]
    for plain in (pickle.loads(pickle.dumps(info)), copy.copy(info), copy.deepcopy(info)):
        assert type(plain) is dict and plain == {}


def test_a_limit_in_steps_of_our_own(env_id: str) -> None:
    env = mvsim_gym.Env(env_id, max_episode_steps=3, time_limit=None)
    env.reset(seed=0)
    ends = [env.step(np.zeros(2, np.float32))[3:] for _ in range(3)]
    assert [end[0] for end in ends] == [False, False, True] and ends[2][1]["timeout"]
    with pytest.raises(ValueError, match="max_episode_steps: found 0, expected an integer of at least 1"):
        mvsim_gym.Env(env_id, max_episode_steps=0)


def test_time_in_the_observation() -> None:
    limit = 7
    env = gym.make("mvsim/NavArena-v0", max_episode_steps=limit, time_limit=None)
    env = gym.wrappers.TimeAwareObservation(env, flatten=False, normalize_time=True)
    observation, _ = env.reset(seed=0)
    times, done = [observation["time"][0]], False
    while not done:
        observation, _, terminated, done, info = env.step(np.zeros(2, np.float32))
        assert not terminated
        times.append(observation["time"][0])
    np.testing.assert_allclose(times, np.arange(limit + 1) / limit, atol=1e-6)
    assert info["timeout"] and info["time"] == pytest.approx(limit * 0.2)
