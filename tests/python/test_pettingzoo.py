"""The adapter for PettingZoo under PettingZoo's own tests, and its wrappers' (SuperSuit)."""

from __future__ import annotations

import copy
import pickle
import warnings
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from conftest import equal

import mvsim_gym

pytest.importorskip("pettingzoo", reason="the extra pettingzoo is not installed")
with warnings.catch_warnings():
    warnings.simplefilter(
        "ignore", DeprecationWarning
    )  # of an environment that it imports where pygame is installed
    from pettingzoo.test import parallel_api_test, parallel_seed_test

from mvsim_gym.pettingzoo import parallel_env

SHORT: dict[str, Any] = {"time_limit": 6}


def random_actions(env: Any, rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {name: rng.uniform(-1, 1, 2).astype(np.float32) for name in env.agents}


def test_api(team_id: str) -> None:
    parallel_api_test(parallel_env(team_id, **SHORT), num_cycles=100)
    parallel_api_test(parallel_env(team_id, on_end="end_all", flatten=True, **SHORT), num_cycles=100)


def test_seeds(team_id: str) -> None:
    parallel_seed_test(lambda: parallel_env(team_id, **SHORT), num_cycles=40)


def test_equals_the_rows_of_a_vector_environment(team_id: str) -> None:
    env = parallel_env(team_id, **SHORT)
    agents = len(env.possible_agents)
    rows = mvsim_gym.VectorEnv(team_id, num_envs=agents, autoreset_mode="Disabled", **SHORT)
    first, _ = env.reset(seed=3)
    observation, _ = rows.reset(seed=3)
    rng = np.random.default_rng(1)
    index = {name: row for row, name in enumerate(env.possible_agents)}
    assert list(index) == rows.agent_names
    for name, row in index.items():
        equal(first[name]["scan"], observation["scan"][row])
    while env.agents:
        actions = random_actions(env, rng)
        array = np.zeros((agents, 2), np.float32)
        for name, action in actions.items():
            array[index[name]] = action
        observations, rewards, terminated, truncated, infos = env.step(actions)
        observation, reward, ended, cut, info = rows.step(array)
        assert observations.keys() == rewards.keys() == infos.keys() == actions.keys()
        for name in actions:
            row = index[name]
            equal(observations[name]["scan"], observation["scan"][row])
            assert (rewards[name], terminated[name], truncated[name]) == (reward[row], ended[row], cut[row])
            if terminated[name] or truncated[name]:
                assert infos[name]["success"] == info["success"][row]
            assert (name in env.agents) == rows.alive[row]
    assert env.step({}) == ({}, {}, {}, {}, {})  # as PettingZoo's own environments
    for ended, given in ((env, actions), (parallel_env(team_id), {})):
        with pytest.raises(gym.error.ResetNeeded):
            ended.step(given)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_go_on_where_it_was(team_id: str, copied: Any) -> None:
    env = parallel_env(team_id, **SHORT)
    env.reset(seed=2)
    rng = np.random.default_rng(4)
    for _ in range(12):
        env.step(random_actions(env, rng))
    twin = copied(env)
    assert twin.agents == env.agents
    equal(twin.state(), env.state())
    while env.agents:
        actions = random_actions(env, rng)
        equal(env.step(actions), twin.step(actions))
    state = env.snapshot()
    assert env.restore(state) == {} and env.agents == []


def test_state_is_that_of_the_world(team_id: str) -> None:
    env = parallel_env(team_id)
    env.reset(seed=1)
    state = env.state().reshape(len(env.agents), 10)
    assert env.state().dtype == np.float32 and env.state_space.contains(env.state())
    np.testing.assert_allclose(state[:, :2], env.read("vehicle:*/pose")[:, :2], rtol=1e-6)
    np.testing.assert_allclose(state[:, 2] ** 2 + state[:, 3] ** 2, 1, rtol=1e-5)
    assert (state[:, 9] == 1).all()
    if "goal" in env.observation_spaces[env.agents[0]].spaces:
        assert np.ptp(state[:, 7]) > 0.1  # goals of their own
    else:
        assert (state[:, 7:9] == 0).all()


def test_agents_start_where_it_is_said() -> None:
    env = parallel_env("mvsim/MultiNav-v0")
    env.reset(seed=1, options={"pose": {"r2": [1, 1, 0], "r4": [-1, 0, 1]}, "goal": {"r2": [2, 2]}})
    assert env.read("vehicle:r2/pose") == pytest.approx([1, 1, 0], abs=1e-6)
    assert env.read("vehicle:r4/pose") == pytest.approx([-1, 0, 1], abs=1e-6)
    assert env.read("agent:r2/goal").tolist() == [2, 2]
    poses = [[0, 0, 0], [1, 1, 0], [-1, 1, 0], [1, -1, 0]]
    env.reset(options={"pose": poses})
    assert env.read("vehicle:r*/pose") == pytest.approx(np.array(poses), abs=1e-6)
    assert env.state().reshape(4, 10)[:, :2] == pytest.approx(np.array(poses)[:, :2], abs=1e-6)


def test_mistakes_are_named(team_id: str) -> None:
    env = parallel_env(team_id)
    env.reset(seed=1)
    still = np.zeros(2, np.float32)
    *others, last = env.agents
    with pytest.raises(ValueError, match=f"found none of '{last}', expected one of each agent that lives"):
        env.step(dict.fromkeys(others, still))
    with pytest.raises(ValueError, match=f"found the agent 'r9', expected one of {', '.join(env.agents)}"):
        env.step(dict.fromkeys([*env.agents, "r9"], still))
    with pytest.raises(ValueError, match="found 'respawn', but agents of PettingZoo cannot come back"):
        parallel_env(team_id, on_end="respawn")
    env.close()
    with pytest.raises(gym.error.ClosedEnvironmentError):
        env.reset()


def test_one_agent_is_a_team_of_one() -> None:
    parallel_api_test(parallel_env("mvsim/NavArena-v0", time_limit=4), num_cycles=50)


def test_pictures(team_id: str) -> None:
    env = parallel_env(team_id, render_mode="rgb_array", width=64, height=48)
    env.reset(seed=1)
    assert env.render().shape == (48, 64, 3)


def test_supersuit(team_id: str) -> None:
    supersuit = pytest.importorskip("supersuit", reason="supersuit is not installed")
    env = supersuit.black_death_v3(parallel_env(team_id, flatten=True, **SHORT))
    parallel_api_test(env.unwrapped, num_cycles=20)
    parallel_api_test(env, num_cycles=100)  # beyond the ends of episodes
    observations, _ = env.reset(seed=1)
    rng = np.random.default_rng(0)
    for _ in range(25):
        actions = {name: rng.uniform(-1, 1, 2).astype(np.float32) for name in env.agents}
        observations, rewards, *_ = env.step(actions)
        assert observations.keys() == rewards.keys() == set(env.possible_agents)
    rows = supersuit.concat_vec_envs_v1(
        supersuit.pettingzoo_env_to_vec_env_v1(
            supersuit.black_death_v3(parallel_env(team_id, flatten=True, **SHORT))
        ),
        2,
    )
    observation, _ = rows.reset(seed=1)
    shape = (2 * len(env.possible_agents), len(observations[env.possible_agents[0]]))
    assert observation.shape == shape
    starts = 0
    for _ in range(80):  # beyond the ends of episodes too
        observation, _, terminated, truncated, _ = rows.step(
            rng.uniform(-1, 1, (shape[0], 2)).astype(np.float32)
        )
        assert observation.shape == shape
        starts += int((terminated | truncated).sum())
    assert starts


def test_actions_in_physical_units_are_told_of(team_id: str) -> None:
    env = parallel_env(team_id)
    env.reset(seed=1)
    with pytest.warns(UserWarning, match=r"counts as 1: actions are in \[-1, 1\]") as told:
        env.step({name: np.full(2, 9, np.float32) for name in env.agents})
    assert told[0].filename == __file__


def test_it_is_recorded_and_seen(team_id: str, tmp_path: Path) -> None:
    pytest.importorskip("mcap", reason="the extra record is not installed")
    pytest.importorskip("viser", reason="the extra view is not installed")
    from mvsim_gym.recording.mcap_reading import Recorded

    env, twin = parallel_env(team_id, **SHORT), parallel_env(team_id, **SHORT)
    env.reset(seed=1)
    twin.reset(seed=1)
    rng = np.random.default_rng(5)
    with env.record(tmp_path / "x.mcap"), env.view(port=0) as view:
        for _ in range(5):
            actions = random_actions(env, rng)
            equal(env.step(actions), twin.step(actions))
        env.close()
        assert view.closed
    found = Recorded(tmp_path / "x.mcap").topics
    assert len(found["/mvsim_gym/actions"].times) == len(found["/mvsim_gym/rewards"].times) == 5
