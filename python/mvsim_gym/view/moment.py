"""The data of a view at one time, and names as labels. They are copies, so stepping can continue at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym._notices import printable

_MAX_LABEL = 80  # characters


def label_of(name: str) -> str:
    """Returns a name as a label; long names are cut."""
    text = printable(name, one_line=True)
    return text if len(text) <= _MAX_LABEL else text[: _MAX_LABEL - 1] + "…"


def labelled(names: Sequence[str]) -> dict[str, str]:
    """Returns names by their labels, which are unique."""
    found: dict[str, str] = {}
    for i, name in enumerate(names):
        label = label_of(name)
        found[label if label not in found else f"{label} ({i})"] = name
    return found


_NOTHING = np.zeros((0, 3), np.float32)


@dataclass(frozen=True)
class Group:
    model: _core.Model
    envs: npt.NDArray[np.int32]
    poses: npt.NDArray[np.float32]
    """(envs, frames, 8): x, y, z, the quaternion w, x, y, z, and the scale along x and y"""


@dataclass(frozen=True)
class Moment:
    """The state of all worlds, and details of the chosen env."""

    time: float
    """simulated time of the chosen env, s"""
    groups: Sequence[Group]
    chosen: int = 0
    vehicle: str = ""
    """the followed vehicle of the chosen env; an unknown name stands for the first vehicle"""
    goals: npt.NDArray[np.float64] | None = None
    """(num_envs, 3): x, y, radius; NaN for an env without a goal"""
    hits: npt.NDArray[np.float32] = field(default_factory=lambda: _NOTHING)
    """(n, 3): points that rays of lidars hit; this and all fields below are of the chosen env"""
    joints: npt.NDArray[np.float32] = field(default_factory=lambda: _NOTHING)
    """(2 n, 3): both ends of ropes and hitches"""
    forces: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 2, 3)))
    """(n, 2, 3): start and tip of the arrows of wheels' friction"""
    path: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3)))
    """(n, 3): points of the path to the goal"""
    contacts: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    """whether each vehicle touches something"""
    pictures: Mapping[str, npt.NDArray[np.uint8]] = field(default_factory=dict)
    """images of cameras by name, (height, width, 3); a camera that is missing has no new image"""
    values: Mapping[str, float] = field(default_factory=dict)
    """values to plot, by name"""
    text: str = ""
    """line above the panel"""
    has_marks: bool = True
    """whether goals, hits, joints, forces, path and contacts are given; False: they stay as they were shown last"""

    def group_of(self, env: int) -> tuple[Group, int]:
        for group in self.groups:
            (rows,) = np.nonzero(group.envs == env)
            if len(rows):
                return group, int(rows[0])
        raise ValueError(f"env: found {env}, which this moment does not hold")
