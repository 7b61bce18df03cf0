"""Data sets of recordings of drives: `mvsim-gym collect --recording`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from mvsim_gym.registration import source_of
from mvsim_gym.tools.collect import default_name
from mvsim_gym.tools.collected import Episodes, Track
from mvsim_gym.tools.datasets import check_target, contents_of, file_digest, made_dataset, observation_fields
from mvsim_gym.tools.drive_episodes import DriveEpisode, DriveLog
from mvsim_gym.tools.policy import agents_of, envs_for

_OF_BATCHES = frozenset(
    {"strict", "flatten", "num_threads", "autoreset_mode"}
)  # keywords that a pipeline has not


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
