"""What the parts of a running world tell of themselves: poses, twists, wheels, publications.

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
    """Velocity in the plane: m/s along x and y, rad/s about z."""

    vx: float
    vy: float
    omega: float


class Publication(NamedTuple):
    """What the `<publish>` of a vehicle or block says of its topics. A world publishes nothing by itself: see
    `mvsim_gym.comms.WorldNode`."""

    topic: str
    """of its pose; empty: the tag names none"""
    period: float
    """s of the wall between two poses"""
    relative_topic: str
    """of the poses of `relative_objects` in its frame; empty: there is none"""
    relative_objects: tuple[str, ...]
    """names as in the world file; one that is not there was warned of"""


class Wheel(NamedTuple):
    """A wheel after the last step."""

    spin: float
    """rad/s, positive when it rolls forward"""
    angle: float
    """rad turned since the start"""
    steer: float
    """rad with respect to the chassis"""
    torque: float
    """N m of the motor, positive forward"""
    force: tuple[float, float]
    """N of friction on the chassis, along x and y of the vehicle"""
    load: float
    """N, share of the chassis weight"""
    slip_ratio: float = 0.0
    """(r spin - v) / max(|r spin|, |v|, 0.1 m/s) with v along the rolling direction: 1 spins, -1 slides locked"""
    slip_angle: float = 0.0
    """rad between travel and rolling direction, in [-pi/2, pi/2]; positive where the wheel moves to its left"""


class Wheels(NamedTuple):
    """All wheels of a vehicle after the last step: copies, one entry a wheel, in the order of `names`."""

    names: tuple[str, ...]
    """tags of the world file, e.g. `l_wheel`"""
    spin: npt.NDArray[np.float64]
    """rad/s, positive when it rolls forward"""
    angle: npt.NDArray[np.float64]
    """rad turned since the start"""
    steer: npt.NDArray[np.float64]
    """rad with respect to the chassis"""
    torque: npt.NDArray[np.float64]
    """N m of the motor, positive forward"""
    slip_ratio: npt.NDArray[np.float64]
    """as in `Wheel`"""
    slip_angle: npt.NDArray[np.float64]
    """rad, as in `Wheel`"""
    force_x: npt.NDArray[np.float64]
    """N of friction on the chassis, forward in the vehicle's frame"""
    force_y: npt.NDArray[np.float64]
    """N of friction on the chassis, to the left in the vehicle's frame"""
    load: npt.NDArray[np.float64]
    """N, share of the chassis weight"""
