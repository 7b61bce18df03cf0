"""Data sets of episodes for offline learning, in Minari's format: `mvsim-gym collect`."""

from __future__ import annotations

import os
import re
import shutil
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import gymnasium as gym
import numpy as np

from mvsim_gym._checks import checked_count
from mvsim_gym._extras import extra
from mvsim_gym.registration import spec
from mvsim_gym.tools.policy import Policy, policy_of

_HOME = "MINARI_DATASETS_PATH"  # where Minari looks for data sets


def collect(
    env_id: str,
    policy: str,
    folder: str,
    *,
    episodes: int,
    seed: int = 0,
    name: str | None = None,
    told: Callable[[int], None] = lambda done: None,
) -> Any:
    """Runs whole episodes and writes them as a Minari data set below `folder`.

    Episode k is reset with the seed `seed` + k, which Minari stores with it: a replay of its actions from there gives
    the same bytes.

    Args:
        env_id: what `mvsim_gym.Env` takes.
        policy: as `policy_of` reads it.
        folder: made if need be; Minari finds the data set with MINARI_DATASETS_PATH set to it.
        episodes: how many.
        seed: of the first.
        name: Minari's id of the data set, e.g. "mvsim/NavArena/gaps-v0"; by default of the environment's and the
            policy's name.
        told: called with the number of episodes so far.

    Returns:
        The data set, a `minari.MinariDataset`.

    Raises:
        ImportError: the extra `record` is missing.
        ValueError: there is such a data set already, or its name is none that Minari takes.
    """
    with extra("collect", "record"):
        import h5py  # noqa: F401 (Minari would miss it after the first episode)
        import minari
    checked_count("--episodes", episodes)
    dataset_id = name or default_name(env_id, policy)
    place = os.path.join(folder, dataset_id)
    if os.path.exists(place):
        raise ValueError(f"there is a data set '{dataset_id}' in '{folder}': choose another --name")
    env = gym.make(spec(env_id), disable_env_checker=True)
    drive = policy_of(policy, env_id, env)
    env.action_space.seed(seed)
    ends: list[dict[str, Any]] = []
    with _datasets_in(folder), warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="minari")  # advice on what a description should have
        try:
            dataset = minari.create_dataset_from_buffers(
                dataset_id,
                _episodes(env, drive, range(seed, seed + episodes), ends, told),
                env=env,
                algorithm_name=_driver(policy),
                author="mvsim_gym",
                description=f"{episodes} episodes of {env_id} from seed {seed} on, driven by {_driver(policy)}",
                data_format="hdf5",
                jpeg_encoding=False,  # a replay is to give the same bytes
            )
            dataset.storage.update_episode_metadata(ends)
        except BaseException:  # half a data set is none
            shutil.rmtree(place, ignore_errors=True)
            raise
    env.close()
    return dataset


def _episodes(
    env: gym.Env[Any, Any],
    drive: Policy,
    seeds: Sequence[int],
    ends: list[dict[str, Any]],
    told: Callable[[int], None],
) -> Iterator[Any]:
    """Minari's buffers of episodes, each made when it is asked for; how they ended goes to `ends`."""
    from minari.data_collector import EpisodeBuffer

    for k, seed in enumerate(seeds):
        observation, info = env.reset(seed=seed)
        observations, steps, ended = [observation], [], False
        while not ended:
            action = drive(observation)
            observation, reward, terminated, truncated, info = env.step(action)
            observations.append(observation)
            steps.append((action, float(reward), terminated, truncated))
            ended = terminated or truncated
        actions, rewards, terminations, truncations = zip(*steps, strict=True)
        ends.append({"success": bool(info["success"]), "time": info["time"], "return": sum(rewards)})
        yield EpisodeBuffer(
            id=k,
            seed=seed,
            observations={key: np.stack([o[key] for o in observations]) for key in observation},
            actions=np.stack(actions),
            rewards=list(rewards),
            terminations=list(terminations),
            truncations=list(truncations),
        )
        told(k + 1)


@contextmanager
def _datasets_in(folder: str) -> Iterator[None]:
    """Minari's data sets lie in a folder for as long."""
    before = os.environ.get(_HOME)
    os.environ[_HOME] = os.path.abspath(folder)
    os.makedirs(folder, exist_ok=True)
    try:
        yield
    finally:
        if before is None:
            del os.environ[_HOME]
        else:
            os.environ[_HOME] = before


def default_name(env_id: str, policy: str) -> str:
    """The data set's id where none is given: mvsim/NavArena-v0 by examples/baselines.py is
    mvsim/NavArena/baselines-v0."""
    last = os.path.basename(env_id.rpartition(":")[2]).removesuffix(".xml").removesuffix(".env")
    return "/".join(["mvsim", _word(re.sub(r"-v\d+$", "", last)), f"{_word(_driver(policy))}-v0"])


def _driver(policy: str) -> str:
    file, _, which = policy.partition(":")
    return which or os.path.splitext(os.path.basename(file))[0]


def _word(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]+", "-", text).strip("-") or "x"
