"""ROS 2 messages of a world. Frames follow REP 105, units are SI.

Types and their encoding come from rosbags; a message is an object of its dataclasses.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mvsim_gym._notices import extra
from mvsim_gym._rotation import quaternion_of
from mvsim_gym.parts import Pose, Twist
from mvsim_gym.readings import GnssReading, ImuReading, Reading

with extra("a ROS 2 message", "ros"):
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

Message = Any  # an object of one of the store's types
STORE = get_typestore(Stores.ROS2_HUMBLE)
for _name, _fields in {
    "AckermannDrive": "float32 steering_angle\nfloat32 steering_angle_velocity\nfloat32 speed\nfloat32 acceleration\n"
    "float32 jerk",
    "AckermannDriveStamped": "std_msgs/Header header\nAckermannDrive drive",
}.items():
    STORE.register(get_types_from_msg(_fields, f"ackermann_msgs/msg/{_name}"))  # rosbags lacks this package
MAP = "map"
"""The frame of the world, which has no prefix."""
_NO_COVARIANCE = np.zeros(36)
_RANGE_MIN = 0.02  # m, shortest range of a scan
# Covariances that are not known, of 3 and of 6 axes: the first element is -1.
_UNKNOWN, _UNKNOWN_TWIST = (np.concatenate([[-1.0], np.zeros(axes**2 - 1)]) for axes in (3, 6))
_UNMEASURED = 1e6  # m2 or rad2: odometry in the plane does not measure height, pitch and roll
_POINT_FIELD = {"<u2": 4, "<f4": 7}  # type numbers of sensor_msgs/PointField
_LINE_STRIP, _LINE_WIDTH = 4, 0.01  # type and width (m) of a marker


class ImuNoise(NamedTuple):
    """Standard deviations of the white noise of an IMU, of each axis."""

    angular_velocity: float
    """rad/s"""
    linear_acceleration: float
    """m/s2"""
    orientation: float
    """rad"""


def _make(name: str, /, **fields: Any) -> Any:
    return STORE.types[f"{name[: name.index('/')]}/msg/{name[name.index('/') + 1 :]}"](**fields)


class Messages:
    """Makes messages of one instant.

    Args:
        nanoseconds: stamp of the messages.
        prefix: prefix of the names of frames except `map`, e.g. `r1/`.
    """

    def __init__(self, nanoseconds: int, prefix: str = "") -> None:
        self.stamp = _make("builtin_interfaces/Time", sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)
        self._prefix = prefix

    def _frame(self, name: str) -> str:
        return name if name in ("", MAP) else self._prefix + name

    def header(self, frame: str) -> Any:
        return _make("std_msgs/Header", stamp=self.stamp, frame_id=self._frame(frame))

    def truth(self, pose: Pose, twist: Twist, frame: str) -> Any:
        """nav_msgs/Odometry of base_link in a frame, without error; the twist is in the body frame."""
        return self._odometry(pose, twist, frame, _NO_COVARIANCE, _NO_COVARIANCE)

    def odometry(self, pose: Pose, twist: Twist, place: float, yaw: float) -> Any:
        """nav_msgs/Odometry of base_link in odom. The twist is in the body frame; its covariance is unknown.

        Args:
            place: standard deviation along x and along y, m.
            yaw: standard deviation, rad.
        """
        covariance = np.diag([place**2, place**2, *[_UNMEASURED] * 3, yaw**2]).ravel()
        return self._odometry(pose, twist, "odom", covariance, _UNKNOWN_TWIST)

    def _odometry(
        self,
        pose: Pose,
        twist: Twist,
        frame: str,
        of_pose: npt.NDArray[np.float64],
        of_twist: npt.NDArray[np.float64],
    ) -> Any:
        return _make(
            "nav_msgs/Odometry",
            header=self.header(frame),
            child_frame_id=self._frame("base_link"),
            pose=_make("geometry_msgs/PoseWithCovariance", pose=_pose(pose), covariance=of_pose),
            twist=_make("geometry_msgs/TwistWithCovariance", twist=_twist(twist), covariance=of_twist),
        )

    @staticmethod
    def twist(vx: float, omega: float) -> Any:
        """geometry_msgs/Twist in the body frame."""
        return _make("geometry_msgs/Twist", linear=_vector(vx, 0.0, 0.0), angular=_vector(0.0, 0.0, omega))

    def stamped_twist(self, vx: float, omega: float) -> Any:
        """geometry_msgs/TwistStamped in the body frame."""
        return _make(
            "geometry_msgs/TwistStamped", header=self.header("base_link"), twist=self.twist(vx, omega)
        )

    def drive(self, speed: float, steer: float) -> Any:
        """ackermann_msgs/AckermannDriveStamped"""
        drive = _make(
            "ackermann_msgs/AckermannDrive",
            steering_angle=steer,
            steering_angle_velocity=0.0,
            speed=speed,
            acceleration=0.0,
            jerk=0.0,
        )
        return _make("ackermann_msgs/AckermannDriveStamped", header=self.header("base_link"), drive=drive)

    def pose_with_covariance(self, pose: Pose, frame: str, place: float = 0.0, yaw: float = 0.0) -> Any:
        """geometry_msgs/PoseWithCovarianceStamped with the standard deviations `place` along x and y (m) and `yaw`
        (rad)."""
        covariance = np.diag([place**2, place**2, 0, 0, 0, yaw**2]).ravel()
        return _make(
            "geometry_msgs/PoseWithCovarianceStamped",
            header=self.header(frame),
            pose=_make("geometry_msgs/PoseWithCovariance", pose=_pose(pose), covariance=covariance),
        )

    def pose_array(self, poses: Sequence[Pose], frame: str) -> Any:
        """geometry_msgs/PoseArray"""
        return _make("geometry_msgs/PoseArray", header=self.header(frame), poses=[_pose(p) for p in poses])

    def transforms(self, edges: Sequence[tuple[str, str, Pose]]) -> Any:
        """tf2_msgs/TFMessage; each edge has a frame, a child frame and the pose of the child in the frame."""
        return _make(
            "tf2_msgs/TFMessage",
            transforms=[
                _make(
                    "geometry_msgs/TransformStamped",
                    header=self.header(frame),
                    child_frame_id=self._frame(child),
                    transform=_make(
                        "geometry_msgs/Transform", translation=_vector(*pose[:3]), rotation=_rotation(pose)
                    ),
                )
                for frame, child, pose in edges
            ],
        )

    def scan(
        self, reading: Reading, range_max: float, period: float, frame: str, *, finite: bool = False
    ) -> Any:
        """sensor_msgs/LaserScan of rays of one instant. A ray without a return is +inf, one below the shortest range
        -inf (REP 117).

        Args:
            range_max: the longest range, m.
            period: s between scans.
            finite: as in MVSim, a ray without a return is the longest range, and short ranges are kept.
        """
        angles, ranges = reading.angles, reading.ranges
        if finite:
            ranges = np.where(reading.valid, ranges, np.float32(range_max))
        else:
            ranges = np.where(reading.valid & (ranges <= np.float32(range_max)), ranges, np.float32(np.inf))
            ranges = np.where(ranges < np.float32(_RANGE_MIN), np.float32(-np.inf), ranges)
        return _make(
            "sensor_msgs/LaserScan",
            header=self.header(frame),
            angle_min=float(angles[0]),
            angle_max=float(angles[-1]),
            angle_increment=float(angles[-1] - angles[0]) / max(1, len(angles) - 1),
            time_increment=0.0,
            scan_time=period,
            range_min=_RANGE_MIN,
            range_max=range_max,
            ranges=ranges,
            intensities=np.zeros(0, np.float32),
        )

    def imu(self, reading: ImuReading, noise: ImuNoise, frame: str) -> Any:
        """sensor_msgs/Imu (REP 145); covariances are those of the white noise."""
        q = reading.orientation
        w, x, y, z = (1.0, 0.0, 0.0, 0.0) if q is None else map(float, q)
        return _make(
            "sensor_msgs/Imu",
            header=self.header(frame),
            orientation=_make("geometry_msgs/Quaternion", x=x, y=y, z=z, w=w),
            orientation_covariance=_UNKNOWN if q is None else _covariance(noise.orientation),
            angular_velocity=_vector(*reading.angular_velocity),
            angular_velocity_covariance=_covariance(noise.angular_velocity),
            linear_acceleration=_vector(*reading.linear_acceleration),
            linear_acceleration_covariance=_covariance(noise.linear_acceleration),
        )

    def fix(self, reading: GnssReading | None, frame: str) -> Any:
        """sensor_msgs/NavSatFix; all values are NaN without a fix."""
        found = reading is not None
        status = _make("sensor_msgs/NavSatStatus", status=0 if found else -1, service=1)
        return _make(
            "sensor_msgs/NavSatFix",
            header=self.header(frame),
            status=status,
            latitude=reading.latitude if reading else math.nan,
            longitude=reading.longitude if reading else math.nan,
            altitude=reading.altitude if reading else math.nan,
            position_covariance=reading.covariance.ravel() if reading else np.zeros(9),
            position_covariance_type=2 if found else 0,  # known on the diagonal, or unknown
        )

    def image(self, pixels: npt.NDArray[np.generic], encoding: str, frame: str) -> Any:
        """sensor_msgs/Image of (height, width, ...), little endian."""
        data = np.frombuffer(np.ascontiguousarray(pixels).tobytes(), np.uint8)
        height, width = pixels.shape[:2]
        return _make(
            "sensor_msgs/Image",
            header=self.header(frame),
            height=height,
            width=width,
            encoding=encoding,
            is_bigendian=0,
            step=len(data) // height,
            data=data,
        )

    def camera_info(self, k: npt.NDArray[np.float64], width: int, height: int, frame: str) -> Any:
        """sensor_msgs/CameraInfo of a pinhole camera without distortion; `k` is its matrix (3, 3), px."""
        whole = _make(
            "sensor_msgs/RegionOfInterest", x_offset=0, y_offset=0, height=0, width=0, do_rectify=False
        )
        return _make(
            "sensor_msgs/CameraInfo",
            header=self.header(frame),
            height=height,
            width=width,
            distortion_model="plumb_bob",
            d=np.zeros(5),
            k=k.ravel(),
            r=np.eye(3).ravel(),
            p=np.column_stack([k, np.zeros(3)]).ravel(),
            binning_x=0,
            binning_y=0,
            roi=whole,
        )

    def cloud(self, points: npt.NDArray[np.void], frame: str) -> Any:
        """sensor_msgs/PointCloud2 of a structured array, with its fields."""
        assert points.dtype.fields is not None
        fields = [
            _make(
                "sensor_msgs/PointField",
                name=name,
                offset=place,
                datatype=_POINT_FIELD[kind.str],
                count=1,
            )
            for name, (kind, place, *_) in points.dtype.fields.items()
        ]
        size = points.dtype.itemsize
        return _make(
            "sensor_msgs/PointCloud2",
            header=self.header(frame),
            height=1,
            width=len(points),
            fields=fields,
            is_bigendian=False,
            point_step=size,
            row_step=size * len(points),
            data=np.frombuffer(points.tobytes(), np.uint8),
            is_dense=True,
        )

    def map_info(self, resolution: float, width: int, height: int, pose: Pose) -> Any:
        """nav_msgs/MapMetaData of cells (m), with the pose of the lower left corner."""
        return _make(
            "nav_msgs/MapMetaData",
            map_load_time=self.stamp,
            resolution=resolution,
            width=width,
            height=height,
            origin=_pose(pose),
        )

    def map(self, cells: npt.NDArray[np.int8], info: Any) -> Any:
        """nav_msgs/OccupancyGrid of (height, width) per cent; row 0 is the lowest, and -1 is unknown."""
        return _make("nav_msgs/OccupancyGrid", header=self.header(MAP), info=info, data=cells.ravel())

    def outlines(self, lines: Sequence[tuple[str, npt.NDArray[np.float64]]]) -> Any:
        """visualization_msgs/MarkerArray of closed lines (n, 3) in base_link, each with its namespace."""
        return _make("visualization_msgs/MarkerArray", markers=[self._line(*line) for line in lines])

    def _line(self, namespace: str, points: npt.NDArray[np.float64]) -> Any:
        return _make(
            "visualization_msgs/Marker",
            header=self.header("base_link"),
            ns=namespace,
            id=0,
            type=_LINE_STRIP,
            action=0,
            pose=_pose(Pose(0, 0, 0, 0, 0, 0)),
            scale=_vector(_LINE_WIDTH, 0, 0),
            color=_make("std_msgs/ColorRGBA", r=1.0, g=1.0, b=1.0, a=1.0),
            lifetime=_make("builtin_interfaces/Duration", sec=0, nanosec=0),
            frame_locked=False,
            points=[_point(*p) for p in (*points, points[0])],
            colors=[],
            texture_resource="",
            texture=_make(
                "sensor_msgs/CompressedImage", header=self.header(""), format="", data=np.zeros(0, np.uint8)
            ),
            uv_coordinates=[],
            text="",
            mesh_resource="",
            mesh_file=_make("visualization_msgs/MeshFile", filename="", data=np.zeros(0, np.uint8)),
            mesh_use_embedded_materials=False,
        )

    def place(self, x: float, y: float, frame: str) -> Any:
        """geometry_msgs/PoseStamped of a point on the ground, m."""
        return _make(
            "geometry_msgs/PoseStamped", header=self.header(frame), pose=_pose(Pose(x, y, 0, 0, 0, 0))
        )

    @staticmethod
    def table(values: npt.NDArray[np.float32], labels: Sequence[str]) -> Any:
        """std_msgs/Float32MultiArray with a name for each dimension."""
        steps = np.cumprod([1, *values.shape[::-1]])[:0:-1].tolist()  # number of elements of each dimension
        dims = [
            _make("std_msgs/MultiArrayDimension", label=label, size=size, stride=step)
            for label, size, step in zip(labels, values.shape, steps, strict=True)
        ]
        layout = _make("std_msgs/MultiArrayLayout", dim=dims, data_offset=0)
        return _make("std_msgs/Float32MultiArray", layout=layout, data=values.ravel())

    @staticmethod
    def polygon(points: npt.NDArray[np.float64]) -> Any:
        """geometry_msgs/Polygon of points (n, 2)."""
        made = [_make("geometry_msgs/Point32", x=float(x), y=float(y), z=0.0) for x, y in points]
        return _make("geometry_msgs/Polygon", points=made)

    @staticmethod
    def boolean(value: bool) -> Any:
        """std_msgs/Bool"""
        return _make("std_msgs/Bool", data=value)

    @staticmethod
    def value(kind: str, value: str | float) -> Any:
        """std_msgs/KIND: String or Float64."""
        return _make(f"std_msgs/{kind}", data=value)

    def clock(self) -> Any:
        """rosgraph_msgs/Clock"""
        return _make("rosgraph_msgs/Clock", clock=self.stamp)


def word(name: str) -> str:
    """Returns a name that ROS accepts in topics and frames: letters, digits and _, and no digit first."""
    found = re.sub(r"\W", "_", name, flags=re.ASCII)
    return f"_{found}" if found[:1].isdigit() else found


def _covariance(deviation: float) -> npt.NDArray[np.float64]:
    """The covariance (9,) of three independent axes."""
    return np.diag(np.full(3, deviation**2)).ravel()


def _vector(x: float, y: float, z: float) -> Any:
    return _make("geometry_msgs/Vector3", x=float(x), y=float(y), z=float(z))


def _point(x: float, y: float, z: float) -> Any:
    return _make("geometry_msgs/Point", x=float(x), y=float(y), z=float(z))


def _pose(pose: Pose) -> Any:
    return _make("geometry_msgs/Pose", position=_point(*pose[:3]), orientation=_rotation(pose))


def _twist(twist: Twist) -> Any:
    return _make(
        "geometry_msgs/Twist", linear=_vector(twist.vx, twist.vy, 0), angular=_vector(0, 0, twist.omega)
    )


def _rotation(pose: Pose) -> Any:
    x, y, z, w = quaternion_of(pose.yaw, pose.pitch, pose.roll)
    return _make("geometry_msgs/Quaternion", x=x, y=y, z=z, w=w)
