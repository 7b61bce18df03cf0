"""Poses as messages, and conversions between frames."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from mvsim_gym._rotation import angles_of
from mvsim_gym.comms import messages
from mvsim_gym.parts import Pose, Twist


def pose_message(pose: Pose) -> Any:
    """A Pose as a message."""
    return messages.Pose(**pose._asdict())


def pose_of(message: Any) -> Pose:
    """The Pose of a message."""
    return Pose(*(getattr(message, name) for name in Pose._fields))


def twist_message(twist: Twist) -> Any:
    """A Twist as a message."""
    return messages.Twist(vx=twist.vx, vy=twist.vy, vz=0, wx=0, wy=0, wz=twist.omega)


def composed(frame: Pose, pose: Pose) -> Pose:
    """Returns `frame` (+) `pose`: a pose given in a frame, expressed in the parent of that frame."""
    turn = _rotation(frame)
    return _pose(np.array(frame[:3]) + turn @ pose[:3], turn @ _rotation(pose))


def relative(frame: Pose, pose: Pose) -> Pose:
    """Returns `pose` relative to `frame`, both given in the same frame."""
    back = _rotation(frame).T
    return _pose(back @ (np.array(pose[:3]) - frame[:3]), back @ _rotation(pose))


def _pose(place: npt.NDArray[np.float64], rotation: npt.NDArray[np.float64]) -> Pose:
    x, y, z = map(float, place)
    return Pose(x, y, z, *angles_of(rotation))


def _rotation(pose: Pose) -> npt.NDArray[np.float64]:
    """The rotation matrix Rz(yaw) Ry(pitch) Rx(roll)."""
    (cy, cp, cr), (sy, sp, sr) = ([f(angle) for angle in pose[3:]] for f in (math.cos, math.sin))
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )
