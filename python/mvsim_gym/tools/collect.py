"""Data sets of episodes for offline learning, of simulations or of recorded drives, in the formats of Minari and
LeRobot: `mvsim-gym collect`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from mvsim_gym._checks import checked_count
from mvsim_gym._files import file_digest
from mvsim_gym._outputs import Observation
from mvsim_gym.registration import source_of
from mvsim_gym.tools.collected import Episodes, Track
from mvsim_gym.tools.datasets import check_target, contents_of, made_dataset, observation_fields
from mvsim_gym.tools.drive_episodes import DriveEpisode, DriveLog
from mvsim_gym.tools.policy import (
    Policy,
    agents_of,
    begin_episodes,
    ends_of,
    envs_for,
    is_flat,
    keywords_of,
    policy_of,
)
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
    format: str = "minari",
    on_episode: Callable[[int], None] = lambda done: None,
    settings: Mapping[str, Any] = MappingProxyType({}),
) -> Any:
    """Runs whole episodes and writes them as a data set below `folder`.

    Episode k is reset with the seed `seed` + k, which is stored with it. A replay of its actions after that reset
    gives the same bytes. In a world with several agents, each agent has its own episode, which ends when the agent's
    does. These episodes share the seed and are in the order of the rows.

    Args:
        env_id: as for `mvsim_gym.VectorEnv`.
        policy: as for `policy_of`.
        folder: folder of data sets, made if it is missing. With MINARI_DATASETS_PATH set to it, Minari finds them.
        episodes: number of episodes of the world.
        seed: seed of the first episode.
        name: the data set's id, e.g. "mvsim/NavArena/gaps-v0". The default is made of the names of the environment and
            the policy.
        flatten: write observations as one vector, as with `flatten=True` of `gymnasium.make`. Always done for an id
            that was registered with it.
        on_episode: called with the number of complete episodes after each one.
        settings: keywords of the environment, which override those of a model.

    Returns:
        The data set, a `minari.MinariDataset`, or a `LeRobotFolder`.

    Raises:
        ImportError: the extra `record` or `lerobot` is missing.
        OSError: the disk is full. The complete episodes are kept, and the same call continues from there, as after a
            run that was killed.
        ValueError: the data set exists already, another run collects the same episodes, the name is invalid for the
            format, agents have no common end, or images are to be flattened.
    """
    checked_count("--episodes", episodes)
    dataset_id = name or default_name(env_id, policy, format)
    check_target(folder, dataset_id, format)
    keywords = keywords_of(policy, settings)
    agents = agents_of(env_id, keywords)
    envs = envs_for(env_id, keywords, num_envs=agents, autoreset_mode="Disabled", copy=True)
    flatten = flatten or is_flat(env_id)
    drive = policy_of(policy, env_id, envs)
    each = "" if envs.num_agents == 1 else f", one for each of the agents {', '.join(envs.agent_names)}"
    driver = _driver(policy)
    contents = contents_of(
        envs,
        env_id,
        keywords,
        flatten,
        format,
        driver,
        f"{episodes} episodes of {env_id} from seed {seed} on{each}, driven by {driver}",
        {"policy": _content(policy), "seed": seed},
    )
    flatten = contents.settings["flatten"]
    with Episodes(folder, dataset_id, contents.settings) as kept:
        try:
            _run(envs, drive, range(seed + len(kept), seed + episodes), kept, on_episode, flatten)
            dataset = made_dataset(kept, episodes, format, contents)
        except OSError as error:
            raise OSError(
                f"{error}: {min(len(kept), episodes)} of {episodes} episodes are kept in '{kept.path}'; the same"
                " command continues from there"
            ) from None
    envs.close()
    return dataset


def _content(policy: str) -> str:
    """Identifies a policy by its name and, if it is a file, by the hash of its content, which may change."""
    file = policy.partition(":")[0]
    if not os.path.isfile(file):
        return policy
    return f"{policy} {file_digest(file)}"


class _Track:
    """Observations, actions and results of one agent in an episode."""

    def __init__(self, row: int, observations: Observation) -> None:
        """Begins with the first observation; `observations` are in the order of the space."""
        self._row = row
        self._observations = {key: [values[row]] for key, values in observations.items()}
        self._results: list[tuple[Any, ...]] = []  # action, reward, termination and truncation of each step

    def add(self, observations: Observation, *results: npt.NDArray[Any]) -> None:
        """Adds a step; the results are the actions, rewards, terminations and truncations of all rows."""
        for key, values in observations.items():
            self._observations[key].append(values[self._row])
        self._results.append(tuple(values[self._row] for values in results))

    def summary(self, info: dict[str, Any], seed: int) -> dict[str, Any]:
        """Returns the metadata of the episode, whose last step had this info."""
        return {
            "seed": seed,
            "success": bool(info["success"]),
            "time": float(info["time"]),
            "return": float(sum(reward for _, reward, *_ in self._results)),
        }

    def arrays(self, flatten: bool) -> dict[str, npt.NDArray[Any]]:
        """Returns the episode by the names of Minari's fields; observations by key unless they are flattened."""
        observations = {key: np.stack(values) for key, values in self._observations.items()}
        results = map(np.stack, zip(*self._results, strict=True))
        names = ("actions", "rewards", "terminations", "truncations")
        return {**observation_fields(observations, flatten), **dict(zip(names, results, strict=True))}


def _run(
    envs: VectorEnv,
    drive: Policy,
    seeds: Sequence[int],
    kept: Episodes,
    on_episode: Callable[[int], None],
    flatten: bool,
) -> None:
    """Drives an episode for each seed and adds it to the kept ones."""
    agents = envs.num_agents
    for seed in seeds:
        envs.action_space.seed(seed)  # at each episode, so that a run can continue from any of them
        observations, _ = envs.reset(seed=seed)
        begin_episodes(drive)
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
        on_episode(len(kept))


def default_name(env_id: str, policy: str, format: str = "minari") -> str:
    """The default id of the data set. For mvsim/NavArena-v0 by examples/baselines.py it is
    mvsim/NavArena/baselines-v0. LeRobot's names have one slash: mvsim/NavArena-baselines."""
    last = os.path.basename(env_id.rpartition(":")[2]).removesuffix(".xml").removesuffix(".env")
    env, driver = _word(re.sub(r"-v\d+$", "", last)), _word(_driver(policy))
    return f"mvsim/{env}-{driver}" if format == "lerobot" else f"mvsim/{env}/{driver}-v0"


def _driver(policy: str) -> str:
    file, _, which = policy.partition(":")
    return which or os.path.splitext(os.path.basename(file))[0]


def _word(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]+", "-", text).strip("-") or "x"


# Keywords of environments that a pipeline does not take.
_OF_BATCHES = frozenset({"strict", "flatten", "num_threads", "autoreset_mode"})


def collect_drives(
    env_id: str,
    recordings: Sequence[str],
    folder: str,
    *,
    name: str | None = None,
    flatten: bool = False,
    format: str = "minari",
    on_episode: Callable[[int], None] = lambda done: None,
    settings: Mapping[str, Any] = MappingProxyType({}),
) -> Any:
    """Writes the episodes of recorded drives as a data set below `folder`.

    The observations are those that the policy had, made of the recorded messages by the same code. Actions are those of
    the policy. The robot's limits may have changed a command: each episode has the number of such steps (`limited`).
    The reward is 1 for the step that reaches the goal and 0 for all others, because rewards of the environment need its
    world. An episode that does not reach its goal is truncated.

    Args:
        env_id: the environment of the policy, an id or a file.
        recordings: MCAP files of `mvsim-gym drive --record`. A file that ends early counts up to there.
        folder, name, flatten, format, on_episode: as for `collect`.
        settings: keywords of the environment, which override those of a recording.

    Returns:
        As `collect`.

    Raises:
        ImportError: the extra `record` or `lerobot` is missing.
        OSError: a file cannot be read, or the disk is full; then the complete episodes are kept, and the same call
            continues from there.
        ValueError: a file is no such recording or is one of a dry run, no policy drove in them, they have different
            keywords, or an error of `collect`.
    """
    dataset_id = name or default_name(env_id, "drive", format)
    check_target(folder, dataset_id, format)
    logs = [DriveLog(path) for path in recordings]
    own = logs[0].settings["keywords"]
    for path, log in zip(recordings, logs, strict=True):
        if log.settings["keywords"] != own or log.settings["agent"] != logs[0].settings["agent"]:
            raise ValueError(
                f"'{path}': found the keywords {log.settings['keywords']}, expected those of '{recordings[0]}': {own}"
            )
    keywords = {**own, **settings}
    envs = envs_for(env_id, keywords, num_envs=agents_of(env_id, keywords))
    contents = contents_of(
        envs,
        env_id,
        keywords,
        flatten,
        format,
        "drive",
        f"recorded drives of {env_id}: {', '.join(map(os.path.basename, recordings))}",
        {"recordings": [file_digest(path) for path in recordings]},
    )
    flatten = contents.settings["flatten"]
    path, plain = source_of(env_id, dict(keywords))
    tracks = (
        _track(episode, file, envs.control_period, flatten)
        for file, log in zip(recordings, logs, strict=True)
        for episode in log.episodes(path, {k: v for k, v in plain.items() if k not in _OF_BATCHES})
    )
    with Episodes(folder, dataset_id, contents.settings) as kept:
        try:
            count = _keep(kept, tracks, on_episode)
            if count == 0:
                raise ValueError(f"found no period in {', '.join(recordings)} in which the policy drove")
            dataset = made_dataset(kept, count, format, contents)
        except OSError as error:
            raise OSError(
                f"{error}: {len(kept)} episodes are kept in '{kept.path}'; the same command continues from there"
            ) from None
    envs.close()
    return dataset


def _keep(kept: Episodes, tracks: Iterator[Track], on_episode: Callable[[int], None]) -> int:
    """Adds the episodes that are not kept yet. Returns the number of all."""
    count = 0
    for arrays, metadata in tracks:
        count += 1
        if count > len(kept):
            kept.add([arrays], [metadata])
            on_episode(count)
    return count


def _track(episode: DriveEpisode, file: str, period: float, flatten: bool) -> Track:
    count = len(episode.actions)
    rewards = np.zeros(count)
    ends = np.zeros(count, bool)
    rewards[-1], ends[-1] = float(episode.arrived), True
    return (
        {
            **observation_fields(episode.observations, flatten),
            "actions": episode.actions,
            "rewards": rewards,
            "terminations": ends & episode.arrived,
            "truncations": ends & (not episode.arrived),
        },
        {
            "success": episode.arrived,
            "time": count * period,
            "return": float(episode.arrived),
            "limited": episode.limited,
            "recording": os.path.basename(file),
        },
    )
