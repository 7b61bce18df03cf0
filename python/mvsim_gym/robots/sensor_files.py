"""Writes sensors of Gazebo as `<sensor>` tags of a vehicle file."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mvsim_gym.robots.description import Array, Sensor, roll_pitch_yaw, transform

_OPTICAL = transform((0, 0, 0), (-math.pi / 2, 0, -math.pi / 2))


def number(value: float) -> str:
    """Returns a number with at most nine digits, and no sign at zero."""
    return f"{value + 0.0:.9g}" if abs(value) > 5e-10 else "0"


def pose_text(pose: Array) -> str:
    """Returns x y z yaw pitch roll, in metres and degrees."""
    roll, pitch, yaw = roll_pitch_yaw(pose)
    angles = (math.degrees(angle) for angle in (yaw, pitch, roll))
    return " ".join(number(float(value)) for value in (*pose[:3, 3], *angles))


def sensor_xml(sensor: Sensor, pose: Array, name: str) -> list[str]:
    """Returns the lines of a sensor at a pose in the vehicle's frame. A kind without a counterpart gives no lines and
    is recorded as ignored."""
    make = _MAKERS.get(sensor.kind)
    if make is None:
        sensor.element.ignored(f"no sensor of the type '{sensor.kind}' is simulated")
        return []
    lines = make(sensor, pose)
    if not lines:
        return []
    rate = sensor.element.child_number("update_rate")
    period = 1 / rate if rate and rate > 0 else 0.1
    kind = lines.pop(0)
    return [
        f'<sensor class="{kind}" name="{name}">',
        *(f"  {line}" for line in lines),
        f"  <sensor_period>{number(period)}</sensor_period>",
        "</sensor>",
    ]


def _noise(sensor: Sensor, path: str, default: float) -> float:
    found = sensor.element.child_number(f"{path}/stddev")
    return default if found is None else found


def _lidar(sensor: Sensor, pose: Array) -> list[str]:
    element = sensor.element
    section = next((tag for tag in ("lidar", "ray") if element.first(tag) is not None), None)
    if section is None:
        element.ignored("it has no <lidar> or <ray>")
        return []

    def value(path: str, default: float) -> float:
        found = element.child_number(f"{section}/{path}")
        return default if found is None else found

    samples = max(2, round(value("scan/horizontal/samples", 640)))
    low, high = value("scan/horizontal/min_angle", -math.pi), value("scan/horizontal/max_angle", math.pi)
    if not high > low or high - low > 2 * math.pi + 0.01:
        raise element.fault(
            f"found angles from {low:g} to {high:g} rad, expected a rising range of at most a turn"
        )
    far = value("range/max", 30.0)
    noise = _noise(sensor, f"{section}/noise", 0.0)
    rows = max(1, round(value("scan/vertical/samples", 1)))
    turned = pose @ transform((0, 0, 0), (0, 0, (low + high) / 2))
    if rows > 1:
        down, up = value("scan/vertical/min_angle", 0.0), value("scan/vertical/max_angle", 0.0)
        angles = " ".join(number(math.degrees(angle)) for angle in np.linspace(down, up, rows))
        if high - low < 2 * math.pi - 0.05:
            element.approximated("a 3D lidar sees the whole turn")
        return [
            "lidar3d",
            f"<pose_3d>{pose_text(pose)}</pose_3d>",
            f"<vert_nrays>{rows}</vert_nrays>",
            f"<vertical_ray_angles>{angles}</vertical_ray_angles>",
            f"<horz_nrays>{samples}</horz_nrays>",
            f"<min_range>{number(max(0.01, value('range/min', 0.01)))}</min_range>",
            f"<max_range>{number(far)}</max_range>",
            f"<range_std_noise>{number(noise)}</range_std_noise>",
        ]
    least = element.child(f"{section}/range/min")
    if least is not None and value("range/min", 0) > 0:
        least.approximated("a 2D lidar reads from 0 on")
    return [
        "laser",
        f"<pose_3d>{pose_text(turned)}</pose_3d>",
        f"<fov_degrees>{number(math.degrees(high - low))}</fov_degrees>",
        f"<nrays>{samples}</nrays>",
        f"<max_range>{number(far)}</max_range>",
        f"<range_std_noise>{number(noise)}</range_std_noise>",
        "<angle_std_noise_deg>0</angle_std_noise_deg>",
    ]


def _lens(sensor: Sensor) -> tuple[int, int, float]:
    element = sensor.element
    wide = element.child_number("camera/horizontal_fov", 1.047) or 1.047
    columns = round(element.child_number("camera/image/width", 320) or 320)
    rows = round(element.child_number("camera/image/height", 240) or 240)
    if not (0 < wide < math.pi and 0 < columns <= 8192 and 0 < rows <= 8192):
        raise element.fault("found a field of view or a size that no camera has")
    return columns, rows, columns / (2 * math.tan(wide / 2))


def _camera(sensor: Sensor, pose: Array) -> list[str]:
    columns, rows, focus = _lens(sensor)
    near, far = (sensor.element.child_number(f"camera/clip/{end}") for end in ("near", "far"))
    return [
        "camera",
        f"<pose_3d>{pose_text(pose @ _OPTICAL)}</pose_3d>",
        f"<ncols>{columns}</ncols> <nrows>{rows}</nrows>",
        f"<cx>{number(columns / 2)}</cx> <cy>{number(rows / 2)}</cy>",
        f"<fx>{number(focus)}</fx> <fy>{number(focus)}</fy>",
        f"<clip_min>{number(near or 0.01)}</clip_min> <clip_max>{number(far or 1000)}</clip_max>",
    ]


def _depth(sensor: Sensor, pose: Array) -> list[str]:
    columns, rows, focus = _lens(sensor)
    near, far = (sensor.element.child_number(f"camera/clip/{end}") for end in ("near", "far"))
    colours = "rgbd" in sensor.kind
    lines = [
        "rgbd_camera",
        f"<pose_3d>{pose_text(pose)}</pose_3d>",
        "<relativePoseIntensityWRTDepth>0 0 0 -90 0 -90</relativePoseIntensityWRTDepth>",
        f"<sense_rgb>{'true' if colours else 'false'}</sense_rgb>",
    ]
    for prefix in ("depth_", "rgb_") if colours else ("depth_",):
        lines += [
            f"<{prefix}ncols>{columns}</{prefix}ncols> <{prefix}nrows>{rows}</{prefix}nrows>",
            f"<{prefix}cx>{number(columns / 2)}</{prefix}cx> <{prefix}cy>{number(rows / 2)}</{prefix}cy>",
            f"<{prefix}fx>{number(focus)}</{prefix}fx> <{prefix}fy>{number(focus)}</{prefix}fy>",
        ]
    noise = _noise(sensor, "camera/noise", 0.0)
    return [
        *lines,
        f"<depth_clip_min>{number(near or 0.1)}</depth_clip_min> <depth_clip_max>{number(far or 15)}</depth_clip_max>",
        f"<depth_noise_sigma>{number(noise)}</depth_noise_sigma>",
    ]


def _imu(sensor: Sensor, pose: Array) -> list[str]:
    gyro = max(_noise(sensor, f"imu/angular_velocity/{axis}/noise", 0.0) for axis in "xyz")
    acceleration = max(_noise(sensor, f"imu/linear_acceleration/{axis}/noise", 0.0) for axis in "xyz")
    return [
        "imu",
        f"<pose_3d>{pose_text(pose)}</pose_3d>",
        f"<angular_velocity_white_noise_std_noise>{number(gyro)}</angular_velocity_white_noise_std_noise>",
        f"<linear_acceleration_white_noise_std_noise>{number(acceleration)}</linear_acceleration_white_noise_std_noise>",
    ]


def _gnss(sensor: Sensor, pose: Array) -> list[str]:
    level, up = (
        _noise(sensor, f"{section}/position_sensing/{axis}/noise", 0.0)
        for section in ("navsat" if sensor.element.first("navsat") is not None else "gps",)
        for axis in ("horizontal", "vertical")
    )
    return [
        "gnss",
        f"<pose_3d>{pose_text(pose)}</pose_3d>",
        f"<horizontal_std_noise>{number(level)}</horizontal_std_noise>",
        f"<vertical_std_noise>{number(up)}</vertical_std_noise>",
    ]


_MAKERS: dict[str, Callable[[Sensor, Array], list[str]]] = {
    "lidar": _lidar,
    "gpu_lidar": _lidar,
    "ray": _lidar,
    "gpu_ray": _lidar,
    "camera": _camera,
    "wideanglecamera": _camera,
    "depth": _depth,
    "depth_camera": _depth,
    "rgbd_camera": _depth,
    "rgbd": _depth,
    "imu": _imu,
    "gps": _gnss,
    "navsat": _gnss,
}
