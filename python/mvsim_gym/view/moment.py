"""What is handed to a view: where everything is at one moment. Copies: whoever steps goes on at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core

__all__ = ["Group", "Moment"]

_NOTHING = np.zeros((0, 3), np.float32)


@dataclass(frozen=True)
class Group:
    """Running copies of one world."""

    model: _core.Model
    envs: npt.NDArray[np.int32]
    poses: npt.NDArray[np.float32]
    """(envs, frames, 8): x, y, z, the quaternion w, x, y, z, and the scale along x and y"""


@dataclass(frozen=True)
class Moment:
    """All worlds, and more of the one that is looked at."""

    time: float
    """s of simulated time, of the chosen env"""
    groups: Sequence[Group]
    chosen: int = 0
    vehicle: str = ""
    """the one that is followed, of the chosen env; a name that none has stands for the first"""
    goals: npt.NDArray[np.float64] | None = None
    """(num_envs, 3): x, y, radius; NaN where there is none"""
    hits: npt.NDArray[np.float32] = field(default_factory=lambda: _NOTHING)
    """(n, 3): where rays of lidars end, of the chosen env as all that follows"""
    joints: npt.NDArray[np.float32] = field(default_factory=lambda: _NOTHING)
    """(2 n, 3): both ends of ropes and hitches"""
    forces: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 2, 3)))
    """(n, 2, 3): where the arrows of wheels' friction begin and end"""
    path: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3)))
    """(n, 3): along the path to the goal"""
    contacts: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    """of each vehicle"""
    pictures: Mapping[str, npt.NDArray[np.uint8]] = field(default_factory=dict)
    """of cameras by name, (height, width, 3); those that are not named have not changed"""
    values: Mapping[str, float] = field(default_factory=dict)
    """what is plotted, by name"""
    text: str = ""
    """what stands above the controls"""
    has_marks: bool = True
    """whether goals, hits, joints, forces, path and contacts are told, or are to stay as they were shown last"""

    def group_of(self, env: int) -> tuple[Group, int]:
        """The group of an env, and its row there."""
        for group in self.groups:
            (rows,) = np.nonzero(group.envs == env)
            if len(rows):
                return group, int(rows[0])
        raise ValueError(f"env: found {env}, which this moment does not hold")
