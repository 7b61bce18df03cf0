"""A node for tests that knows nothing of the package: message types written down by hand from their definitions in
ROS 2, names as nodes of ROS 2 have them on the network."""

import os  # no annotations from __future__: cyclonedds takes types, not their names
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from cyclonedds.builtin import BuiltinDataReader, BuiltinTopicDcpsPublication, BuiltinTopicDcpsSubscription
from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import array, float32, float64, int8, int32, sequence, uint8, uint16, uint32
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

DOMAIN = 1 + os.getpid() % 100
"""of this process, so that tests beside this one are not heard; above 100 ports are others' """


@dataclass
class Time(IdlStruct, typename="builtin_interfaces.msg.dds_.Time_"):
    sec: int32
    nanosec: uint32

    @property
    def ns(self) -> int:
        return self.sec * 10**9 + self.nanosec


@dataclass
class Duration(IdlStruct, typename="builtin_interfaces.msg.dds_.Duration_"):
    sec: int32
    nanosec: uint32


@dataclass
class Clock(IdlStruct, typename="rosgraph_msgs.msg.dds_.Clock_"):
    clock: Time


@dataclass
class Header(IdlStruct, typename="std_msgs.msg.dds_.Header_"):
    stamp: Time
    frame_id: str


@dataclass
class Bool(IdlStruct, typename="std_msgs.msg.dds_.Bool_"):
    data: bool


@dataclass
class Float64(IdlStruct, typename="std_msgs.msg.dds_.Float64_"):
    data: float64


@dataclass
class Gid(IdlStruct, typename="rmw_dds_common.msg.dds_.Gid_"):
    data: array[uint8, 16]


@dataclass
class NodeEntitiesInfo(IdlStruct, typename="rmw_dds_common.msg.dds_.NodeEntitiesInfo_"):
    node_namespace: str
    node_name: str
    reader_gid_seq: sequence[Gid]
    writer_gid_seq: sequence[Gid]


@dataclass
class ParticipantEntitiesInfo(IdlStruct, typename="rmw_dds_common.msg.dds_.ParticipantEntitiesInfo_"):
    gid: Gid
    node_entities_info_seq: sequence[NodeEntitiesInfo]


@dataclass
class Vector3(IdlStruct, typename="geometry_msgs.msg.dds_.Vector3_"):
    x: float64 = 0.0
    y: float64 = 0.0
    z: float64 = 0.0


@dataclass
class Point(IdlStruct, typename="geometry_msgs.msg.dds_.Point_"):
    x: float64
    y: float64
    z: float64


@dataclass
class Point32(IdlStruct, typename="geometry_msgs.msg.dds_.Point32_"):
    x: float32
    y: float32
    z: float32


@dataclass
class Polygon(IdlStruct, typename="geometry_msgs.msg.dds_.Polygon_"):
    points: sequence[Point32]


@dataclass
class Quaternion(IdlStruct, typename="geometry_msgs.msg.dds_.Quaternion_"):
    x: float64
    y: float64
    z: float64
    w: float64


@dataclass
class Pose(IdlStruct, typename="geometry_msgs.msg.dds_.Pose_"):
    position: Point
    orientation: Quaternion


@dataclass
class PoseWithCovariance(IdlStruct, typename="geometry_msgs.msg.dds_.PoseWithCovariance_"):
    pose: Pose
    covariance: array[float64, 36]


@dataclass
class PoseWithCovarianceStamped(IdlStruct, typename="geometry_msgs.msg.dds_.PoseWithCovarianceStamped_"):
    header: Header
    pose: PoseWithCovariance


@dataclass
class PoseArray(IdlStruct, typename="geometry_msgs.msg.dds_.PoseArray_"):
    header: Header
    poses: sequence[Pose]


@dataclass
class Twist(IdlStruct, typename="geometry_msgs.msg.dds_.Twist_"):
    linear: Vector3 = field(default_factory=Vector3)
    angular: Vector3 = field(default_factory=Vector3)


@dataclass
class TwistWithCovariance(IdlStruct, typename="geometry_msgs.msg.dds_.TwistWithCovariance_"):
    twist: Twist
    covariance: array[float64, 36]


@dataclass
class Odometry(IdlStruct, typename="nav_msgs.msg.dds_.Odometry_"):
    header: Header
    child_frame_id: str
    pose: PoseWithCovariance
    twist: TwistWithCovariance


@dataclass
class Transform(IdlStruct, typename="geometry_msgs.msg.dds_.Transform_"):
    translation: Vector3
    rotation: Quaternion


@dataclass
class TransformStamped(IdlStruct, typename="geometry_msgs.msg.dds_.TransformStamped_"):
    header: Header
    child_frame_id: str
    transform: Transform


@dataclass
class TFMessage(IdlStruct, typename="tf2_msgs.msg.dds_.TFMessage_"):
    transforms: sequence[TransformStamped]


@dataclass
class LaserScan(IdlStruct, typename="sensor_msgs.msg.dds_.LaserScan_"):
    header: Header
    angle_min: float32
    angle_max: float32
    angle_increment: float32
    time_increment: float32
    scan_time: float32
    range_min: float32
    range_max: float32
    ranges: sequence[float32]
    intensities: sequence[float32]


@dataclass
class Imu(IdlStruct, typename="sensor_msgs.msg.dds_.Imu_"):
    header: Header
    orientation: Quaternion
    orientation_covariance: array[float64, 9]
    angular_velocity: Vector3
    angular_velocity_covariance: array[float64, 9]
    linear_acceleration: Vector3
    linear_acceleration_covariance: array[float64, 9]


@dataclass
class NavSatStatus(IdlStruct, typename="sensor_msgs.msg.dds_.NavSatStatus_"):
    status: int8
    service: uint16


@dataclass
class NavSatFix(IdlStruct, typename="sensor_msgs.msg.dds_.NavSatFix_"):
    header: Header
    status: NavSatStatus
    latitude: float64
    longitude: float64
    altitude: float64
    position_covariance: array[float64, 9]
    position_covariance_type: uint8


@dataclass
class Image(IdlStruct, typename="sensor_msgs.msg.dds_.Image_"):
    header: Header
    height: uint32
    width: uint32
    encoding: str
    is_bigendian: uint8
    step: uint32
    data: sequence[uint8]


@dataclass
class RegionOfInterest(IdlStruct, typename="sensor_msgs.msg.dds_.RegionOfInterest_"):
    x_offset: uint32
    y_offset: uint32
    height: uint32
    width: uint32
    do_rectify: bool


@dataclass
class CameraInfo(IdlStruct, typename="sensor_msgs.msg.dds_.CameraInfo_"):
    header: Header
    height: uint32
    width: uint32
    distortion_model: str
    d: sequence[float64]
    k: array[float64, 9]
    r: array[float64, 9]
    p: array[float64, 12]
    binning_x: uint32
    binning_y: uint32
    roi: RegionOfInterest


@dataclass
class PointField(IdlStruct, typename="sensor_msgs.msg.dds_.PointField_"):
    name: str
    offset: uint32
    datatype: uint8
    count: uint32


@dataclass
class PointCloud2(IdlStruct, typename="sensor_msgs.msg.dds_.PointCloud2_"):
    header: Header
    height: uint32
    width: uint32
    fields: sequence[PointField]
    is_bigendian: bool
    point_step: uint32
    row_step: uint32
    data: sequence[uint8]
    is_dense: bool


@dataclass
class MapMetaData(IdlStruct, typename="nav_msgs.msg.dds_.MapMetaData_"):
    map_load_time: Time
    resolution: float32
    width: uint32
    height: uint32
    origin: Pose


@dataclass
class OccupancyGrid(IdlStruct, typename="nav_msgs.msg.dds_.OccupancyGrid_"):
    header: Header
    info: MapMetaData
    data: sequence[int8]


class Peer:
    """Subscribes and publishes; what came is kept by topic."""

    def __init__(self, domain: int = DOMAIN) -> None:
        self._participant = DomainParticipant(domain)
        self._readers: dict[str, Any] = {}
        self.heard: dict[str, list[Any]] = {}

    def listen(self, topic: str, kind: Any, *, late: bool = False, plain: bool = False) -> None:
        """Subscribes; `late` asks for what was latched, `plain`: it is no topic of a node."""
        qos = Qos(
            Policy.Reliability.Reliable(duration(seconds=1)),
            Policy.History.KeepAll,
            Policy.Durability.TransientLocal if late else Policy.Durability.Volatile,
        )
        self._readers[topic] = DataReader(
            self._participant, Topic(self._participant, topic if plain else f"rt{topic}", kind), qos=qos
        )
        self.heard[topic] = []

    def take(self) -> None:
        """Keeps what has come."""
        for topic, reader in self._readers.items():
            self.heard[topic] += [s for s in reader.take(1000) if s.sample_info.valid_data]

    def wait(self, holds: Callable[[], Any], between: Callable[[], Any] = lambda: None) -> None:
        """Takes what comes, and does something in between, until it holds."""
        until = time.monotonic() + 20
        while not holds():
            assert time.monotonic() < until, "waited in vain"
            between()
            time.sleep(0.002)
            self.take()

    def driver(self, topic: str) -> Callable[[float, float], None]:
        """What publishes a speed and a turn rate."""
        qos = Qos(Policy.Reliability.Reliable(duration(seconds=1)), Policy.History.KeepLast(10))
        writer = DataWriter(self._participant, Topic(self._participant, f"rt{topic}", Twist), qos=qos)
        return lambda vx, omega: writer.write(Twist(Vector3(x=vx), Vector3(z=omega)))

    def endpoints(self, *, subscriptions: bool = False) -> dict[str, tuple[str, str]]:
        """By the topic's name on the network: type and user data of who publishes (or subscribes)."""
        kind = BuiltinTopicDcpsSubscription if subscriptions else BuiltinTopicDcpsPublication
        found = BuiltinDataReader(self._participant, kind).read(1000)
        return {
            e.topic_name: (
                e.type_name,
                e.qos[Policy.Userdata].data.decode() if Policy.Userdata in e.qos else "",
            )
            for e in found
        }
