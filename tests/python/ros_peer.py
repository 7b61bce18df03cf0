"""A node for tests that knows nothing of the package: message types written down by hand from their definitions in
ROS 2, names as nodes of ROS 2 have them on the network."""

import os  # no annotations from __future__: cyclonedds takes types, not their names
import time
import types
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


def struct(name: str, default: Any = None, /, **fields: Any) -> Any:
    """A type of DDS for a message of ROS 2, by its name there; with a default for all fields or none."""
    package, _, short = name.partition("/")

    def body(inside: dict[str, Any]) -> None:
        inside.update(__annotations__=fields, __module__=__name__)
        if default is not None:
            inside.update({key: field(default_factory=default) for key in fields})

    made = types.new_class(short, (IdlStruct,), {"typename": f"{package}.msg.dds_.{short}_"}, body)
    return dataclass(made)


Time = struct("builtin_interfaces/Time", sec=int32, nanosec=uint32)
Time.ns = property(lambda time: time.sec * 10**9 + time.nanosec)
Duration = struct("builtin_interfaces/Duration", sec=int32, nanosec=uint32)
Clock = struct("rosgraph_msgs/Clock", clock=Time)
Header = struct("std_msgs/Header", stamp=Time, frame_id=str)
Bool = struct("std_msgs/Bool", data=bool)
Float64 = struct("std_msgs/Float64", data=float64)
Gid = struct("rmw_dds_common/Gid", data=array[uint8, 16])
NodeEntitiesInfo = struct(
    "rmw_dds_common/NodeEntitiesInfo",
    node_namespace=str,
    node_name=str,
    reader_gid_seq=sequence[Gid],
    writer_gid_seq=sequence[Gid],
)
ParticipantEntitiesInfo = struct(
    "rmw_dds_common/ParticipantEntitiesInfo", gid=Gid, node_entities_info_seq=sequence[NodeEntitiesInfo]
)
Vector3 = struct("geometry_msgs/Vector3", float, x=float64, y=float64, z=float64)
Point = struct("geometry_msgs/Point", x=float64, y=float64, z=float64)
Point32 = struct("geometry_msgs/Point32", x=float32, y=float32, z=float32)
Polygon = struct("geometry_msgs/Polygon", points=sequence[Point32])
Quaternion = struct("geometry_msgs/Quaternion", x=float64, y=float64, z=float64, w=float64)
Pose = struct("geometry_msgs/Pose", position=Point, orientation=Quaternion)
PoseWithCovariance = struct("geometry_msgs/PoseWithCovariance", pose=Pose, covariance=array[float64, 36])
PoseWithCovarianceStamped = struct(
    "geometry_msgs/PoseWithCovarianceStamped", header=Header, pose=PoseWithCovariance
)
PoseArray = struct("geometry_msgs/PoseArray", header=Header, poses=sequence[Pose])
Twist = struct("geometry_msgs/Twist", Vector3, linear=Vector3, angular=Vector3)
TwistStamped = struct("geometry_msgs/TwistStamped", header=Header, twist=Twist)
AckermannDrive = struct(
    "ackermann_msgs/AckermannDrive",
    float,
    steering_angle=float32,
    steering_angle_velocity=float32,
    speed=float32,
    acceleration=float32,
    jerk=float32,
)
AckermannDriveStamped = struct("ackermann_msgs/AckermannDriveStamped", header=Header, drive=AckermannDrive)
TwistWithCovariance = struct("geometry_msgs/TwistWithCovariance", twist=Twist, covariance=array[float64, 36])
Odometry = struct(
    "nav_msgs/Odometry", header=Header, child_frame_id=str, pose=PoseWithCovariance, twist=TwistWithCovariance
)
Transform = struct("geometry_msgs/Transform", translation=Vector3, rotation=Quaternion)
TransformStamped = struct(
    "geometry_msgs/TransformStamped", header=Header, child_frame_id=str, transform=Transform
)
TFMessage = struct("tf2_msgs/TFMessage", transforms=sequence[TransformStamped])
LaserScan = struct(
    "sensor_msgs/LaserScan",
    header=Header,
    angle_min=float32,
    angle_max=float32,
    angle_increment=float32,
    time_increment=float32,
    scan_time=float32,
    range_min=float32,
    range_max=float32,
    ranges=sequence[float32],
    intensities=sequence[float32],
)
Imu = struct(
    "sensor_msgs/Imu",
    header=Header,
    orientation=Quaternion,
    orientation_covariance=array[float64, 9],
    angular_velocity=Vector3,
    angular_velocity_covariance=array[float64, 9],
    linear_acceleration=Vector3,
    linear_acceleration_covariance=array[float64, 9],
)
NavSatStatus = struct("sensor_msgs/NavSatStatus", status=int8, service=uint16)
NavSatFix = struct(
    "sensor_msgs/NavSatFix",
    header=Header,
    status=NavSatStatus,
    latitude=float64,
    longitude=float64,
    altitude=float64,
    position_covariance=array[float64, 9],
    position_covariance_type=uint8,
)
Image = struct(
    "sensor_msgs/Image",
    header=Header,
    height=uint32,
    width=uint32,
    encoding=str,
    is_bigendian=uint8,
    step=uint32,
    data=sequence[uint8],
)
RegionOfInterest = struct(
    "sensor_msgs/RegionOfInterest",
    x_offset=uint32,
    y_offset=uint32,
    height=uint32,
    width=uint32,
    do_rectify=bool,
)
CameraInfo = struct(
    "sensor_msgs/CameraInfo",
    header=Header,
    height=uint32,
    width=uint32,
    distortion_model=str,
    d=sequence[float64],
    k=array[float64, 9],
    r=array[float64, 9],
    p=array[float64, 12],
    binning_x=uint32,
    binning_y=uint32,
    roi=RegionOfInterest,
)
PointField = struct("sensor_msgs/PointField", name=str, offset=uint32, datatype=uint8, count=uint32)
PointCloud2 = struct(
    "sensor_msgs/PointCloud2",
    header=Header,
    height=uint32,
    width=uint32,
    fields=sequence[PointField],
    is_bigendian=bool,
    point_step=uint32,
    row_step=uint32,
    data=sequence[uint8],
    is_dense=bool,
)
MapMetaData = struct(
    "nav_msgs/MapMetaData", map_load_time=Time, resolution=float32, width=uint32, height=uint32, origin=Pose
)
OccupancyGrid = struct("nav_msgs/OccupancyGrid", header=Header, info=MapMetaData, data=sequence[int8])


String = struct("std_msgs/String", data=str)


class Peer:
    """Subscribes and publishes; what came is kept by topic."""

    def __init__(self, domain: int = DOMAIN) -> None:
        self._participant = DomainParticipant(domain)
        self._readers: dict[str, Any] = {}
        self.heard: dict[str, list[Any]] = {}

    def listen(
        self, topic: str, kind: Any, *, late: bool = False, plain: bool = False, reliable: bool = True
    ) -> None:
        """Subscribes; `late` asks for what was latched, `plain`: it is no topic of a node."""
        qos = Qos(
            Policy.Reliability.Reliable(duration(seconds=1)) if reliable else Policy.Reliability.BestEffort,
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

    def publisher(self, topic: str, kind: Any, *, reliable: bool = True) -> Callable[[Any], None]:
        """Returns a function that publishes messages of a type."""
        reliability = (
            Policy.Reliability.Reliable(duration(seconds=1)) if reliable else Policy.Reliability.BestEffort
        )
        qos = Qos(reliability, Policy.History.KeepLast(10))
        return DataWriter(self._participant, Topic(self._participant, f"rt{topic}", kind), qos=qos).write

    def driver(self, topic: str) -> Callable[[float, float], None]:
        """Returns a function that publishes a speed and a turn rate."""
        publish = self.publisher(topic, Twist)
        return lambda vx, omega: publish(Twist(Vector3(x=vx), Vector3(z=omega)))

    def endpoints(self, *, subscriptions: bool = False) -> list[tuple[str, str, str]]:
        """The topic's name on the network, type and user data of each that publishes (or subscribes)."""
        kind = BuiltinTopicDcpsSubscription if subscriptions else BuiltinTopicDcpsPublication
        found = BuiltinDataReader(self._participant, kind).read(1000)
        return [
            (
                e.topic_name,
                e.type_name,
                e.qos[Policy.Userdata].data.decode() if Policy.Userdata in e.qos else "",
            )
            for e in found
        ]
