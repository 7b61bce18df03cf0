"""Poses as messages, and conversions between frames."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mvsim_gym._rotation import angles_of, rotation_of
from mvsim_gym.comms import messages
from mvsim_gym.parts import Pose, Twist


def pose_message(pose: Pose) -> Any:
    return messages.Pose(**pose._asdict())


def pose_of(message: Any) -> Pose:
    return Pose(*(getattr(message, name) for name in Pose._fields))


def twist_message(twist: Twist) -> Any:
    return messages.Twist(vx=twist.vx, vy=twist.vy, vz=0, wx=0, wy=0, wz=twist.omega)


def composed(frame: Pose, pose: Pose) -> Pose:
    """Returns `frame` (+) `pose`: a pose given in a frame, expressed in the parent of that frame."""
    turn = rotation_of(*frame[3:])
    return _pose(np.array(frame[:3]) + turn @ pose[:3], turn @ rotation_of(*pose[3:]))


def relative(frame: Pose, pose: Pose) -> Pose:
    """Returns `pose` relative to `frame`, both given in the same frame."""
    back = rotation_of(*frame[3:]).T
    return _pose(back @ (np.array(pose[:3]) - frame[:3]), back @ rotation_of(*pose[3:]))


def _pose(place: npt.NDArray[np.float64], rotation: npt.NDArray[np.float64]) -> Pose:
    x, y, z = map(float, place)
    return Pose(x, y, z, *angles_of(rotation))
