"""Data sets of episodes for offline learning, in Minari's format: `mvsim-gym collect`."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from mvsim_gym._checks import checked_count
from mvsim_gym._notices import extra
from mvsim_gym._outputs import Observation, flat_space, flattened
from mvsim_gym.registration import spec
from mvsim_gym.tools.collected import Episodes
from mvsim_gym.tools.episodes import agents_of, ends_of, is_flat
from mvsim_gym.tools.policy import Policy, envs_for, keywords_of, policy_of
from mvsim_gym.vector_env import VectorEnv


def collect(
    env_id: str,
    policy: str,
    folder: str,
    *,
    episodes: int,
    seed: int = 0,
    name: str | None = None,
    flatten: bool = False,
    told: Callable[[int], None] = lambda done: None,
    settings: Mapping[str, Any] = MappingProxyType({}),
) -> Any:
    """Runs whole episodes and writes them as a Minari data set below `folder`.

    Episode k is reset with the seed `seed` + k, which Minari stores with it: a replay of its actions from there gives
    the same bytes. Of a world with several agents each has an episode of its own, in the order of the rows, which ends
    where the agent's does; they share the seed.

    Args:
        env_id: what `mvsim_gym.VectorEnv` takes.
        policy: as `policy_of` reads it.
        folder: made if need be; Minari finds the data set with MINARI_DATASETS_PATH set to it.
        episodes: how many, of worlds.
        seed: of the first.
        name: Minari's id of the data set, e.g. "mvsim/NavArena/gaps-v0"; by default of the environment's and the
            policy's name.
        flatten: write observations as one vector, as `flatten=True` of `gymnasium.make` has them; so are those of an id
            that was registered with it.
        told: called with the number of episodes so far.
        settings: keywords of the environment; they go before those of a model.

    Returns:
        The data set, a `minari.MinariDataset`.

    Raises:
        ImportError: the extra `record` is missing.
        OSError: the disk is full. The complete episodes are kept, and the same call goes on from there, as it does
            after a run that was killed.
        ValueError: there is such a data set already, another run is at the same episodes, its name is none that Minari
            takes, agents have no common end, or pictures are to be flattened.
    """
    with extra("collect", "record"):
        import h5py  # noqa: F401 (Minari would miss it after the first episode)
        import minari  # noqa: F401
    checked_count("--episodes", episodes)
    dataset_id = name or default_name(env_id, policy)
    place = os.path.join(folder, dataset_id)
    if os.path.exists(place):
        raise ValueError(f"there is a data set '{dataset_id}' in '{folder}': choose another --name")
    keywords = keywords_of(policy, settings)
    agents = agents_of(env_id, keywords)
    envs = envs_for(env_id, keywords, num_envs=agents, autoreset_mode="Disabled", copy=True)
    named = envs.single_observation_space
    assert isinstance(named, spaces.Dict)
    flatten = flatten or is_flat(env_id)
    written = flat_space(named) if flatten else named
    drive = policy_of(policy, env_id, envs)
    settings_of = {
        "env": env_id,
        "policy": _content(policy),
        "seed": seed,
        "keywords": keywords,
        "flatten": flatten,
    }
    single, each = None, f", one for each of the agents {', '.join(envs.agent_names)}"
    if (
        envs.num_agents == 1
    ):  # else `gymnasium.make`, by which the data set recovers its environment, has no room
        own = spec(env_id, **{**keywords, "flatten": flatten})
        single, each = gym.make(own, disable_env_checker=True), ""
    with Episodes(folder, dataset_id, settings_of) as kept:
        try:
            _run(envs, drive, range(seed + len(kept), seed + episodes), kept, told, flatten)
            dataset = kept.make_dataset(
                episodes,
                env=single.spec if single is not None else None,
                observation_space=written,
                action_space=envs.single_action_space,
                algorithm_name=_driver(policy),
                author="mvsim_gym",
                description=f"{episodes} episodes of {env_id} from seed {seed} on{each}, driven by"
                f" {_driver(policy)}",
            )
        except OSError as error:
            raise OSError(
                f"{error}: {min(len(kept), episodes)} of {episodes} episodes are kept in '{kept.path}', and the same"
                " command goes on from there"
            ) from None
    envs.close()
    return dataset


def _content(policy: str) -> str:
    """A policy by name, and of a file what is in it: another one drives other episodes."""
    file = policy.partition(":")[0]
    if not os.path.isfile(file):
        return policy
    with open(file, "rb") as source:
        return f"{policy} {hashlib.sha256(source.read()).hexdigest()}"


class _Track:
    """What one agent saw and did in an episode."""

    def __init__(self, row: int, observations: Observation) -> None:
        """`observations` in the order of the space."""
        self._row = row
        self._observations = {key: [values[row]] for key, values in observations.items()}
        self._actions: list[npt.NDArray[np.float32]] = []
        self._rewards: list[float] = []
        self._terminations: list[bool] = []
        self._truncations: list[bool] = []

    def add(
        self,
        observations: Observation,
        actions: npt.NDArray[np.float32],
        rewards: npt.NDArray[np.float64],
        terminated: npt.NDArray[np.bool_],
        truncated: npt.NDArray[np.bool_],
    ) -> None:
        """A step, of all rows."""
        row = self._row
        for key, values in observations.items():
            self._observations[key].append(values[row])
        self._actions.append(actions[row])
        self._rewards.append(float(rewards[row]))
        self._terminations.append(bool(terminated[row]))
        self._truncations.append(bool(truncated[row]))

    def summary(self, info: dict[str, Any], seed: int) -> dict[str, Any]:
        """What is stored beside the episode, whose last step had this info."""
        return {
            "seed": seed,
            "success": bool(info["success"]),
            "time": float(info["time"]),
            "return": sum(self._rewards),
        }

    def arrays(self, flatten: bool) -> dict[str, npt.NDArray[Any]]:
        """The episode, with the names of Minari's fields; observations by key unless they are flattened."""
        observations = {key: np.stack(values) for key, values in self._observations.items()}
        named = {"observations": flattened(observations.values())} if flatten else {}
        return {
            **(named or {f"observations/{key}": values for key, values in observations.items()}),
            "actions": np.stack(self._actions),
            "rewards": np.asarray(self._rewards),
            "terminations": np.asarray(self._terminations),
            "truncations": np.asarray(self._truncations),
        }


def _run(
    envs: VectorEnv,
    drive: Policy,
    seeds: Sequence[int],
    kept: Episodes,
    told: Callable[[int], None],
    flatten: bool,
) -> None:
    """Drives an episode for each seed and adds it to those that are kept."""
    agents = envs.num_agents
    for seed in seeds:
        envs.action_space.seed(seed)  # of each episode, so that a run can go on from any
        observations, _ = envs.reset(seed=seed)
        tracks = [_Track(row, observations) for row in range(agents)]
        of_rows: dict[int, dict[str, Any]] = {}
        while (alive := envs.alive).any():
            actions = drive(observations)
            observations, rewards, terminated, truncated, infos = envs.step(actions)
            for row in alive.nonzero()[0].tolist():
                tracks[row].add(observations, actions, rewards, terminated, truncated)
            of_rows |= ends_of(terminated | truncated, infos)
        names = [{"agent": name} for name in envs.agent_names] if agents > 1 else [{}]
        beside = [
            track.summary(of_rows[row], seed) | name
            for row, (track, name) in enumerate(zip(tracks, names, strict=True))
        ]
        kept.add([track.arrays(flatten) for track in tracks], beside)
        told(len(kept))


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
