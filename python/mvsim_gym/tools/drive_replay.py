"""The recording of a drive given to a policy again: `mvsim-gym drive --replay`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mvsim_gym.deploy import Pipeline, PolicyFile, load_policy
from mvsim_gym.tools.drive_episodes import DriveEpisode, DriveLog


class Replayed(NamedTuple):
    """The commands of one policy beside those of a recorded drive."""

    names: list[str]
    """of the parts of a command"""
    recorded: npt.NDArray[np.float64]
    """(n, size) commands that the recorded policy gave, before limits; m/s, rad/s, rad"""
    replayed: npt.NDArray[np.float64]
    """(n, size) commands that this policy gives for the same readings"""

    @property
    def differences(self) -> npt.NDArray[np.float64]:
        """(n, size), absolute"""
        return np.abs(self.replayed - self.recorded)


def replay_drive(
    policy: str, path: str, *, settings: Mapping[str, Any], say: Callable[[str], None] = print
) -> Replayed:
    """Gives the recorded messages of a drive to the pipeline of a policy, and the observations to the policy.

    Each period has the readings, the goal and the last action of the recording, so differences do not add up. A dry run
    is replayed too. Periods in which the robot was stopped have no command and are left out.

    Args:
        policy: a folder of `mvsim-gym export`.
        path: an MCAP file of `mvsim-gym drive --record`.
        settings: keywords of the environment, which override those of the policy.
        say: receives a line for each episode and one for all.

    Raises:
        OSError: a file cannot be read.
        ValueError: no recording of a drive, no period in which the policy drove, or a recording of another kind of
            action.
    """
    loaded = load_policy(policy)
    keywords = {**loaded.keywords, **settings}
    pipeline = Pipeline(loaded.env, agent=loaded.contract.agent, **keywords)
    names, units = pipeline.command_names, pipeline.command_units
    log = DriveLog(path, dry=True)
    parts: list[tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]] = []
    for number, episode in enumerate(log.episodes(loaded.env, keywords)):
        if episode.actions.shape[1] != len(pipeline.action_names):
            raise ValueError(
                f"'{path}': found actions of {episode.actions.shape[1]} numbers, expected those of the policy:"
                f" {', '.join(pipeline.action_names)}"
            )
        both = tuple(_commands(pipeline, actions) for actions in (episode.actions, _acted(loaded, episode)))
        parts.append((both[0], both[1]))
        end = "at its goal" if episode.arrived else "stopped"
        say(
            f"episode {number + 1}: {len(both[0])} periods, {end}, {_told(Replayed(names, *parts[-1]), units)}"
        )
    if not parts:
        raise ValueError(f"'{path}': found no period in which the policy drove")
    found = Replayed(
        names, np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
    )
    say(f"all: {len(found.recorded)} periods, {_told(found, units)}")
    return found


def _acted(policy: PolicyFile, episode: DriveEpisode) -> npt.NDArray[Any]:
    """Returns the actions of a policy in an episode. A recurrent one gets all that it got in the drive, in turn."""
    count = len(episode.actions)
    if not policy.is_recurrent:
        return policy({key: values[:count] for key, values in episode.observations.items()})
    if episode.begins:
        policy.begin()
    for seen in episode.before:
        policy(seen)
    return np.stack(
        [policy({key: each[k] for key, each in episode.observations.items()}) for k in range(count)]
    )


def _commands(pipeline: Pipeline, actions: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    return np.array([list(pipeline.command(action).values()) for action in actions], np.float64)


def _told(found: Replayed, units: list[str]) -> str:
    rows = zip(found.names, units, found.differences.max(axis=0), found.differences.mean(axis=0), strict=True)
    return "differences: " + ", ".join(
        f"{name} at most {most:.2g} {unit}, mean {mean:.2g} {unit}" for name, unit, most, mean in rows
    )
