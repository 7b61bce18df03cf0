"""Learning libraries on a native batch, each in a virtual environment that has it (`./dev learners`): every example
learns a little, and the adapters do what they say."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from conftest import ROOT, actions_for

from mvsim_gym import VectorEnv

# warnings that the libraries raise about their own code are ignored
pytestmark = [
    pytest.mark.slow,
    pytest.mark.learners,
    pytest.mark.unsanitized,
    pytest.mark.filterwarnings("default"),
]
ENV = "mvsim/NavArena-v0"
TEAM = "mvsim/MultiNav-v0"
SHORT = {"time_limit": 2}  # ten steps


def run(example: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / example), *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    ("library", "example", "said"),
    [
        ("ray", "rllib_ppo.py", "2,0"),
        ("ray", "rllib_team.py", "2,0"),
        ("torchrl", "torchrl_ppo.py", "2,048 steps"),
        ("skrl", "skrl_ppo.py", "2,048 steps"),
        ("rl_games", "rl_games_ppo.py", "MAX EPOCHS"),
        ("pufferlib", "pufferlib_ppo.py", "2,048 steps"),
    ],
)
def test_examples_learn(library: str, example: str, said: str) -> None:
    pytest.importorskip(library)
    assert said in run(f"learners/{example}", "--steps", "2000", "--num-envs", "16")


def test_supersuit() -> None:
    pytest.importorskip("supersuit")
    assert "(164,)" in run("learners/supersuit_stack.py", "--steps", "500")  # 4 x 41


def test_rllib_runners_play_different_episodes() -> None:
    pytest.importorskip("ray")
    from mvsim_gym.learners.rllib import RunnerEnv

    def first(seed: int) -> np.ndarray:
        envs = RunnerEnv(ENV, num_envs=3, flatten=True)
        observation, _ = envs.reset(seed=seed)
        envs.close()
        return np.asarray(observation)

    seen = np.concatenate([first(7), first(8)])
    assert len(np.unique(seen, axis=0)) == 6
    np.testing.assert_array_equal(first(7), seen[:3])


def test_rllib_scales_observations_and_rewards() -> None:
    pytest.importorskip("ray")
    from mvsim_gym.learners.rllib import FlatObservation, RunnerEnv, register

    keywords: dict[str, Any] = {"num_envs": 3, **SHORT}
    ours = RunnerEnv(ENV, scaled=True, reward_scale=0.2, flatten=True, **keywords)
    plain = VectorEnv(ENV, **keywords)
    flat = FlatObservation(plain.single_observation_space)
    assert ours.single_observation_space == flat.space and ours.observation_space.shape == (3, 41)
    seeds = [5, 6, 7]
    np.testing.assert_array_equal(ours.reset(seed=seeds)[0], flat(plain.reset(seed=seeds)[0]))
    for action in actions_for(1, 12, 3):
        observation, rewards, *_ = ours.step(action)
        expected, unscaled, *_ = plain.step(action)
        np.testing.assert_array_equal(observation, flat(expected))
        np.testing.assert_array_equal(rewards, 0.2 * unscaled)
    with pytest.raises(ValueError, match="scaled: found it with flatten=False"):
        register(ENV, scaled=True, flatten=False)
    with pytest.raises(ValueError, match="reward_scale: found 0"):
        register(ENV, reward_scale=0)


def test_rllib_takes_the_only_autoreset_mode_it_knows() -> None:
    pytest.importorskip("ray")
    from mvsim_gym.learners.rllib import _Creator, register

    assert register(ENV) == ENV and register(ENV, "arena", obstacles=2) == "arena"
    with pytest.raises(ValueError, match="autoreset_mode: found SameStep, expected NextStep"):
        register(ENV, autoreset_mode="SameStep")
    with pytest.raises(ValueError, match="num_envs_per_env_runner=8"):
        register(ENV, num_envs=8)
    with pytest.raises(ValueError, match=r"one by one, expected config\.env_runners"):
        _Creator(ENV, {})({})
    with pytest.raises(TypeError, match="did you mean 'obstacles'"):
        register(ENV, obstacle=2)
    envs = _Creator(ENV, {"obstacles": 2})({"num_envs": 5, "time_limit": 3})
    assert envs.num_envs == 5 and isinstance(envs.single_observation_space, gym.spaces.Box)


def test_rllib_takes_agents_for_rows() -> None:
    pytest.importorskip("ray")
    from mvsim_gym.learners.rllib import _Creator, register

    with pytest.raises(
        ValueError, match=r"RLlib cannot mask them, expected 'respawn' or 'end_all', or .*register_team"
    ):
        register(TEAM)
    assert register(TEAM, on_end="respawn") == TEAM
    envs = _Creator(TEAM, {"on_end": "respawn"})({"num_envs": 8})
    twin = VectorEnv(TEAM, num_envs=8, on_end="respawn", flatten=True)
    np.testing.assert_array_equal(
        envs.reset(seed=1)[0], twin.reset(seed=[2**20, 2**20 + 1])[0]
    )  # a seed a world


def test_rllib_takes_agents_for_ended_as_they_have_ended() -> None:
    """In RLlib's own episodes, an agent that the time limit ends is not terminated, whatever the others did, and the
    vector environment begins anew, where Ray's wrapper of PettingZoo's environments goes on without an end."""
    pytest.importorskip("ray")
    from ray.rllib.env.multi_agent_episode import MultiAgentEpisode

    from mvsim_gym.learners.rllib import TeamEnv

    env = TeamEnv(TEAM, time_limit=8)
    rng = np.random.default_rng(3)
    ways = set()
    for seed in range(12):
        observations, infos = env.reset(seed=seed)
        episode = MultiAgentEpisode(
            observation_space=env.observation_space,
            action_space=env.action_space,
            agent_to_module_mapping_fn=lambda *_: "all",
        )
        episode.add_env_reset(observations=observations, infos=infos)
        expected: dict[str, tuple[bool, bool]] = {}
        while not episode.is_done:
            ahead = rng.uniform([0, -0.5], [1, 0.5], (4, 2)).astype(np.float32)
            actions = {name: ahead[env.possible_agents.index(name)] for name in env.agents}
            before = set(env.agents)
            observations, rewards, terminated, truncated, infos = env.step(actions)
            for name in before - set(env.agents):
                expected[name] = (terminated[name], not terminated[name])
            episode.add_env_step(
                observations, actions, rewards, infos, terminateds=terminated, truncateds=truncated
            )
            assert (terminated["__all__"] or truncated["__all__"]) == (not env.agents)
        found = {
            name: (own.is_terminated, own.is_truncated and not own.is_terminated)
            for name, own in episode.agent_episodes.items()
        }
        assert found == expected
        ways.add(frozenset(expected.values()))
    assert frozenset({(True, False), (False, True)}) in ways  # ends of both kinds in one episode
    other = TeamEnv(TEAM, runner=1)
    assert any(
        (other.reset(seed=0)[0][name] != env.reset(seed=0)[0][name]).any() for name in env.possible_agents
    )


@pytest.mark.parametrize("library", ["pufferlib", "rl_games"])
def test_no_learner_takes_rows_without_a_robot(library: str) -> None:
    pytest.importorskip(library)
    if library == "pufferlib":
        from mvsim_gym.learners.pufferlib import MVSimPufferEnv as Rows
    else:
        from mvsim_gym.learners.rl_games import GamesVecEnv as Rows
    with pytest.raises(ValueError, match="cannot mask them, expected 'respawn' or 'end_all'"):
        Rows(TEAM, 8)
    assert Rows(TEAM, 8, on_end="respawn").envs.num_worlds == 2


def test_pufferlib_writes_into_its_buffers() -> None:
    pytest.importorskip("pufferlib")
    from mvsim_gym.learners.pufferlib import MVSimPufferEnv

    ours = MVSimPufferEnv(ENV, num_envs=3, seed=5, **SHORT)
    keywords: dict[str, Any] = {"flatten": True, "autoreset_mode": "SameStep", **SHORT}
    plain = VectorEnv(ENV, num_envs=3, **keywords)
    kept = ours.observations
    ours.reset()
    np.testing.assert_array_equal(kept, plain.reset(seed=5)[0])
    told: list[dict[str, Any]] = []
    returns = np.zeros(3)
    for action in actions_for(1, 12, 3):
        *_, infos = ours.step(action)
        observation, rewards, terminated, truncated, _ = plain.step(action)
        np.testing.assert_array_equal(kept, observation)
        np.testing.assert_array_equal(ours.rewards, rewards.astype(np.float32))
        np.testing.assert_array_equal(ours.terminals, terminated | truncated)
        np.testing.assert_array_equal(ours.truncations, truncated)
        returns += rewards
        if (terminated | truncated).any():
            told += infos
            expected = returns[terminated | truncated]
            np.testing.assert_allclose(infos[0]["episode_return"], expected)
            returns[terminated | truncated] = 0
    assert sum(len(info["success"]) for info in told) >= 3


def test_rl_games_is_told_of_time_limits() -> None:
    pytest.importorskip("rl_games")
    from rl_games.common import vecenv

    from mvsim_gym.learners.rl_games import GamesVecEnv, register

    envs = vecenv.create_vec_env(register(ENV, "short", **SHORT), 4, seed=2)
    assert isinstance(envs, GamesVecEnv) and envs.reset().shape == (4, 41)
    outs = 0
    for _ in range(12):
        _, rewards, dones, infos = envs.step(np.tile(np.float32([-1, 0]), (4, 1)))  # stands
        assert rewards.dtype == np.float32 and not (infos["time_outs"] & ~dones).any()
        outs += int(infos["time_outs"].sum())
    assert outs == 4


def test_torchrl_sees_how_episodes_end() -> None:
    pytest.importorskip("torchrl")
    from torchrl.envs import GymWrapper

    envs = gym.make_vec(ENV, num_envs=2, autoreset_mode="SameStep", flatten=True, **SHORT)
    data = GymWrapper(envs).rollout(25, break_when_any_done=False)
    ended = data["next", "done"][:, :-1, 0]
    assert ended.sum() == 4
    after, begun = data["next", "observation"][:, :-1][ended], data["observation"][:, 1:][ended]
    assert (after != begun).any(dim=1).all()  # the last of one episode, the first of the next
    with pytest.raises(Exception, match="autoreset_mode"):
        GymWrapper(gym.make_vec(ENV, num_envs=2, flatten=True))
