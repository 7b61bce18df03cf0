"""States of the parts of a running world: poses, twists, wheels, publications.

Units are SI and radians.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Pose", "Publication", "Twist", "Wheel", "Wheels"]


class Pose(NamedTuple):
    """Position (m) and attitude (rad), R = Rz(yaw) Ry(pitch) Rx(roll): positive pitch is nose down."""

    x: float
    y: float
    z: float
    yaw: float
    pitch: float
    roll: float


class Twist(NamedTuple):
    """Velocity in the plane: x and y in m/s, rotation about z in rad/s."""

    vx: float
    vy: float
    omega: float


class Publication(NamedTuple):
    """The topics in the `<publish>` of a vehicle or block. A world publishes nothing by itself: see
    `mvsim_gym.comms.WorldNode`."""

    topic: str
    """topic of its pose; empty if the tag names none"""
    period: float
    """time between two poses, s of the wall clock"""
    relative_topic: str
    """topic of the poses of `relative_objects` in its frame; empty if there is none"""
    relative_objects: tuple[str, ...]
    """names as in the world file; a missing object has caused a warning"""


class Wheel(NamedTuple):
    """A wheel after the last step."""

    spin: float
    """rad/s, positive when the wheel rolls forward"""
    angle: float
    """angle turned since the start, rad"""
    steer: float
    """steering angle with respect to the chassis, rad"""
    torque: float
    """motor torque, N m, positive forward"""
    force: tuple[float, float]
    """friction force on the chassis, N, along x and y of the vehicle"""
    load: float
    """N, share of the chassis weight"""
    slip_ratio: float = 0.0
    """(r spin - v) / max(|r spin|, |v|, 0.1 m/s) with v along the rolling direction: 1 spins on the spot, -1 slides
    locked"""
    slip_angle: float = 0.0
    """angle between travel and rolling direction, rad, in [-pi/2, pi/2]; positive if the wheel moves to its left"""


class Wheels(NamedTuple):
    """All wheels of a vehicle after the last step: copies, one entry for each wheel, in the order of `names`."""

    names: tuple[str, ...]
    """tags of the world file, e.g. `l_wheel`"""
    spin: npt.NDArray[np.float64]
    """rad/s, positive when the wheel rolls forward"""
    angle: npt.NDArray[np.float64]
    """angle turned since the start, rad"""
    steer: npt.NDArray[np.float64]
    """steering angle with respect to the chassis, rad"""
    torque: npt.NDArray[np.float64]
    """motor torque, N m, positive forward"""
    slip_ratio: npt.NDArray[np.float64]
    """as in `Wheel`"""
    slip_angle: npt.NDArray[np.float64]
    """rad, as in `Wheel`"""
    force_x: npt.NDArray[np.float64]
    """friction force on the chassis, N, forward in the vehicle's frame"""
    force_y: npt.NDArray[np.float64]
    """friction force on the chassis, N, to the left in the vehicle's frame"""
    load: npt.NDArray[np.float64]
    """N, share of the chassis weight"""
