"""How much of a PPO run the environment takes: the time of NavArena over that of envs that cost nothing; our PPO beside
that of Stable-Baselines3."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from figure import ROOT, Row, Settings, figure

NUM_ENVS, STEPS = 64, 128


def _free_env(like: Any) -> Any:
    """A VecEnv with the same spaces whose observations were made before the run."""
    from stable_baselines3.common.vec_env import VecEnv

    class FreeEnv(VecEnv):
        def __init__(self) -> None:
            super().__init__(like.num_envs, like.observation_space, like.action_space)
            rng = np.random.default_rng(0)
            shape = (8, like.num_envs, *like.observation_space.shape)
            self._observations = rng.uniform(-1, 1, shape).astype(np.float32)
            self._rewards = rng.normal(size=(8, like.num_envs)).astype(np.float32)
            self._dones = np.zeros(like.num_envs, np.bool_)
            self._infos: list[dict[str, Any]] = [{} for _ in range(like.num_envs)]
            self._count = 0

        def reset(self) -> np.ndarray:
            return self._observations[0]

        def step_async(self, actions: np.ndarray) -> None:
            self._count = (self._count + 1) % 8

        def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
            return self._observations[self._count], self._rewards[self._count], self._dones, self._infos

        def close(self) -> None:
            pass

        def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
            return [None] * self.num_envs

        def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
            pass

        def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
            return [None] * self.num_envs

        def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
            return [False] * self.num_envs

    return FreeEnv()


def learning(env: Any) -> Any:
    """PPO of Stable-Baselines3 that has learned for one iteration."""
    from stable_baselines3 import PPO

    model = PPO(
        "MlpPolicy",
        env,
        n_steps=STEPS,
        batch_size=4096,
        n_epochs=5,
        policy_kwargs={"net_arch": [64, 64]},
        device="cpu",
        seed=0,
    )
    return model.learn(NUM_ENVS * STEPS)


def learner(env: Any, iterations: int) -> Callable[[], float]:
    """A function that learns on for some iterations and returns the seconds that it took."""
    model = learning(env)

    def learn() -> float:
        began = time.perf_counter()
        model.learn(iterations * NUM_ENVS * STEPS, reset_num_timesteps=False)
        return time.perf_counter() - began

    return learn


@figure("sb3_over_learner")
def sb3_over_learner(settings: Settings) -> Row:
    """Both in turns, with one thread of PyTorch; `also`: env steps/s of both."""
    import torch

    from mvsim_gym.sb3 import MVSimVecEnv

    iterations = 1 if settings.quick else 5
    env = MVSimVecEnv("mvsim/NavArena-v0", NUM_ENVS, settings.threads)
    ours, free = learner(env, iterations), learner(_free_env(env), iterations)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    seconds = [(ours(), free()) for _ in range(settings.runs)]
    torch.set_num_threads(before)
    steps = iterations * NUM_ENVS * STEPS
    config = {
        "work": "PPO of Stable-Baselines3 on mvsim/NavArena-v0, seconds over those with envs that cost nothing",
        "num_envs": NUM_ENVS,
        "num_threads": settings.threads,
        "torch_threads": 1,
        "also": {
            "env steps/s": round(steps / median(ours for ours, _ in seconds)),
            "env steps/s of envs that cost nothing": round(steps / median(free for _, free in seconds)),
        },
        "steps": STEPS,
        "minibatch": 4096,
        "epochs": 5,
        "network": "64-64",
    }
    return Row("sb3_over_learner", "1", config, [ours / free for ours, free in seconds])


class _Timed:
    """Some object, with the seconds of its calls of one method summed up."""

    def __init__(self, of: Any, method: str) -> None:
        self._of, self._method, self.seconds = of, method, 0.0

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._of, name)
        return self._timed(found) if name == self._method else found

    def _timed(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **keywords: Any) -> Any:
            began = time.perf_counter()
            try:
                return call(*args, **keywords)
            finally:
                self.seconds += time.perf_counter() - began

        return timed

    def in_place(self) -> _Timed:
        """The same by changing the object, for what others hold already."""
        setattr(self._of, self._method, self._timed(getattr(self._of, self._method)))
        return self


@figure("sb3_split")
def sb3_split(settings: Settings) -> Row:
    """The share of a PPO run that envs take, in C++; `also`: the microseconds of 64 envs' step that each part takes."""
    import torch

    from mvsim_gym.sb3 import MVSimVecEnv

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    env = MVSimVecEnv("mvsim/NavArena-v0", NUM_ENVS, settings.threads)
    model = learning(env)
    env._batch = batch = _Timed(env._batch, "step")
    buffer = model.rollout_buffer
    parts = {
        "policy": [_Timed(model.policy, "forward").in_place()],
        "env": [_Timed(env, "step").in_place()],
        "buffers": [_Timed(buffer, name).in_place() for name in ("add", "compute_returns_and_advantage")],
        "update": [_Timed(model, "train").in_place()],
    }
    steps = (1 if settings.quick else 25) * STEPS
    began = time.perf_counter()
    model.learn(steps * NUM_ENVS, reset_num_timesteps=False)
    whole = time.perf_counter() - began
    torch.set_num_threads(before)
    seconds = {name: sum(timed.seconds for timed in some) for name, some in parts.items()}
    seconds["rest"] = whole - sum(seconds.values())
    seconds["hand-over"] = seconds["env"] - batch.seconds
    seconds["env"] = batch.seconds
    config = {
        "work": "a step of PPO of Stable-Baselines3 on mvsim/NavArena-v0: the envs' share of its time",
        "num_envs": NUM_ENVS,
        "num_threads": settings.threads,
        "torch_threads": 1,
        "also": {f"us of {name}": round(1e6 * time_of / steps, 1) for name, time_of in seconds.items()},
    }
    return Row("sb3_split", "1", config, [batch.seconds / whole])


@figure("ppo_over_sb3")
def ppo_over_sb3(settings: Settings) -> Row:
    """Both in turns, with the same networks and hyperparameters, and one thread of PyTorch, as `ppo.py` has it."""
    from mvsim_gym.sb3 import MVSimVecEnv

    sys.path.append(str(ROOT / "examples"))
    import gymnasium as gym
    import ppo
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    iterations = 1 if settings.quick else 5
    theirs = learner(MVSimVecEnv("mvsim/NavArena-v0", NUM_ENVS, settings.threads), iterations)
    keywords = {"num_threads": settings.threads, "autoreset_mode": "SameStep", "flatten": True, "copy": False}
    envs = gym.make_vec("mvsim/NavArena-v0", num_envs=NUM_ENVS, **keywords).unwrapped
    agent = ppo.Agent(envs.single_observation_space, envs.action_space.shape[1])
    collector, optimizer = ppo.Collector(envs, agent, 0), ppo.optimizer_of(agent)
    ppo.update(agent, optimizer, collector.play())

    def ours() -> float:
        began = time.perf_counter()
        for _ in range(iterations):
            ppo.update(agent, optimizer, collector.play())
        return time.perf_counter() - began

    runs = [ours() / theirs() for _ in range(settings.runs)]
    torch.set_num_threads(before)
    config = {
        "work": "examples/ppo.py on mvsim/NavArena-v0, seconds over those of Stable-Baselines3's PPO",
        "num_envs": NUM_ENVS,
        "num_threads": settings.threads,
        "torch_threads": 1,
        "steps": STEPS,
        "minibatch": ppo.BATCH_SIZE,
        "epochs": ppo.EPOCHS,
        "network": "64-64",
    }
    return Row("ppo_over_sb3", "1", config, runs)
