"""Bytes on the wire: frames and messages against tables that were written by hand, not by the code that makes them."""

from __future__ import annotations

import importlib.util
import itertools
import math
import struct
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, run_python

pytest.importorskip("zmq", reason="needs the extra zmq")

from mvsim_gym.comms import FrameError, decode_observation, messages
from mvsim_gym.comms.frames import decode, encode, encode_raw, parse, split
from mvsim_gym.comms.messages import PACKAGE, TYPES, description
from mvsim_gym.comms.mrpt_scan import Scan, decode_scan, encode_scan
from mvsim_gym.comms.observation import Observation, encode_observation
from mvsim_gym.parts import Pose

# R required, O optional, M many; t text, y bytes, b bool, d double, f float, else a message
FIELDS = {
    "RegisterNodeRequest": "R1t nodeName",
    "RegisterNodeAnswer": "R1b success O2t errorMessage",
    "UnregisterNodeRequest": "R1t nodeName",
    "GenericAnswer": "R1b success O2t errorMessage",
    "ListNodesRequest": "O1t nodeStartsWith",
    "ListNodesAnswer": "M1t nodes",
    "ListTopicsRequest": "O1t topicStartsWith",
    "ListTopicsAnswer": "M1TopicInfo topics",
    "TopicInfo": "R1t topicName R2t topicType M3t publisherEndpoint M4t publisherName",
    "AdvertiseTopicRequest": "R1t topicName R2t topicTypeName R3t endpoint R4t nodeName",
    "AdvertiseServiceRequest": "R1t serviceName R2t inputTypeName R3t outputTypeName R4t endpoint R5t nodeName",
    "SubscribeRequest": "R1t topic R2t updatesEndpoint",
    "SubscribeAnswer": "R1t topic R2b success",
    "GetServiceInfoRequest": "R1t serviceName",
    "GetServiceInfoAnswer": "R1b success O2t errorMessage O3t serviceEndpoint O4t serviceNodeName",
    "CallService": "R1t serviceName R2y serializedInput",
    "Pose": "R1d x R2d y R3d z R4d yaw R5d pitch R6d roll",
    "Twist": "R1d vx R2d vy R3d vz R4d wx R5d wy R6d wz",
    "TimeStampedPose": "R1d unixTimestamp R2t objectId R3Pose pose O4t relativeToObjectId",
    "GenericObservation": "R1d unixTimestamp R2t sourceObjectId R3y mrptSerializedObservation",
    "ObservationLidar2D": "R1d unixTimestamp R2t sourceObjectId M3f scanRanges M4b validRanges R5f aperture R6b ccw"
    " R7f maxRange R8Pose sensorPose",
    "SrvSetPose": "R1t objectId R2Pose pose O3b relativeIncrement",
    "SrvSetPoseAnswer": "R1b success O2t errorMessage R4b objectIsInCollision O5Pose objectGlobalPose",
    "SrvSetPoseTwist": "R1t objectId R2Pose pose R3Twist twist",
    "SrvGetPose": "R1t objectId",
    "SrvGetPoseAnswer": "R1b success O2t errorMessage O3Pose pose R4b objectIsInCollision O5Twist twist",
    "SrvSetControllerTwist": "R1t objectId R2Twist twistSetPoint",
    "SrvSetControllerTwistAnswer": "R1b success O2t errorMessage",
    "SrvShutdown": "",
    "SrvShutdownAnswer": "R1b accepted",
}
KINDS = {"d": 1, "f": 2, "b": 8, "t": 9, "y": 12}  # numbers of protobuf's FieldDescriptorProto
LABELS = {"O": 1, "R": 2, "M": 3}


def test_every_field_has_its_number() -> None:
    found = {}
    for message in description().message_type:
        rows = []
        for field in message.field:
            label = next(k for k, v in LABELS.items() if v == field.label)
            kind = next((k for k, v in KINDS.items() if v == field.type), field.type_name.rpartition(".")[2])
            rows.append(f"{label}{field.number}{kind} {field.name}")
        found[message.name] = " ".join(rows)
    assert found == FIELDS
    assert PACKAGE == "mvsim_msgs" and set(TYPES) == {f"mvsim_msgs.{name}" for name in FIELDS}


@pytest.mark.skipif(
    importlib.util.find_spec("grpc_tools") is None, reason="needs grpcio-tools, which has protoc"
)
def test_protoc_reads_the_file_as_we_do(tmp_path: Path) -> None:
    folder = ROOT / "python" / "mvsim_gym" / "comms"
    out = tmp_path / "set"
    command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{folder}", f"--descriptor_set_out={out}"]
    subprocess.run([*command, str(folder / "mvsim.proto")], check=True)
    from google.protobuf.descriptor_pb2 import FileDescriptorSet

    theirs = FileDescriptorSet.FromString(out.read_bytes()).file[0]
    for message in theirs.message_type:
        for field in message.field:
            field.ClearField("json_name")
    assert theirs.package == "mvsim_msgs" and theirs.syntax in ("", "proto2")
    assert list(theirs.message_type) == list(description().message_type)


def test_a_frame_begins_with_the_length_of_its_type() -> None:
    assert encode(messages.ListNodesRequest())[:4] == b"\x1b\0\0\0"


def test_an_empty_request_is_35_bytes() -> None:
    frame = encode(messages.ListNodesRequest())
    assert frame == b"\x1b\0\0\0mvsim_msgs.ListNodesRequest\0\0\0\0" and len(frame) == 35


def double(number: int, value: float) -> bytes:
    return bytes([number << 3 | 1]) + struct.pack("<d", value)


def text(number: int, value: str) -> bytes:
    return bytes([number << 3 | 2, len(value)]) + value.encode()


POSE = b"".join(double(i + 1, v) for i, v in enumerate((1, -2, 0.5, 0.25, 0, 3)))


def test_bytes_of_a_pose_in_time() -> None:
    """Field 3 is the pose, 4 the object that it is relative to; an absent field is not written."""
    made = messages.TimeStampedPose(unixTimestamp=7.5, objectId="r1")
    made.pose.CopyFrom(messages.Pose(x=1, y=-2, z=0.5, yaw=0.25, pitch=0, roll=3))
    expected = double(1, 7.5) + text(2, "r1") + b"\x1a" + bytes([len(POSE)]) + POSE
    assert made.SerializeToString() == expected
    made.relativeToObjectId = "r2"
    assert made.SerializeToString() == expected + text(4, "r2")


def test_bytes_of_a_scan_are_not_packed() -> None:
    made = messages.ObservationLidar2D(unixTimestamp=1, sourceObjectId="r", aperture=3, ccw=True, maxRange=9)
    made.scanRanges.extend([1.5, 2.5])
    made.validRanges.extend([True, False])
    made.sensorPose.CopyFrom(messages.Pose(x=1, y=-2, z=0.5, yaw=0.25, pitch=0, roll=3))
    ranges = b"".join(b"\x1d" + struct.pack("<f", value) for value in (1.5, 2.5))
    floats = b"\x2d" + struct.pack("<f", 3) + b"\x30\x01" + b"\x3d" + struct.pack("<f", 9)
    expected = double(1, 1) + text(2, "r") + ranges + b"\x20\x01\x20\x00" + floats + b"\x42\x36" + POSE
    assert made.SerializeToString() == expected


def test_set_pose_answer_has_no_field_3() -> None:
    made = messages.SrvSetPoseAnswer(success=True, errorMessage="e", objectIsInCollision=False)
    made.objectGlobalPose.CopyFrom(messages.Pose(x=1, y=-2, z=0.5, yaw=0.25, pitch=0, roll=3))
    assert made.SerializeToString() == b"\x08\x01" + text(2, "e") + b"\x20\x00" + b"\x2a\x36" + POSE


@pytest.mark.parametrize("name", FIELDS)
def test_every_message_survives_a_frame(name: str) -> None:
    made = getattr(messages, name)()
    fill(made)
    assert decode(encode(made), name) == made


def fill(message: object) -> None:
    for field in message.DESCRIPTOR.fields:  # type: ignore[attr-defined]
        if field.type == field.TYPE_MESSAGE:
            value = getattr(message, field.name)
            fill(value.add() if hasattr(value, "add") else value)
            continue
        value = {1: -2.5, 2: 0.5, 8: True, 9: "ä/x", 12: b"\0\xff"}[field.type]
        if isinstance(getattr(message, field.name), str | bytes | bool | float | int):
            setattr(message, field.name, value)
        else:
            getattr(message, field.name).extend([value, value])


GOOD = encode(messages.RegisterNodeRequest(nodeName="a"))


@pytest.mark.parametrize(
    ("frame", "error"),
    [
        (b"", "expected the length of the type name"),
        (b"\1\0\0", "expected the length of the type name"),
        (b"\xff\xff\xff\xff", "expected a type name of 4294967295"),
        (GOOD[:20], "expected a type name of 30"),
        (GOOD[:34], "expected the length of the payload"),
        (GOOD[:-1], "expected a payload of 3"),
        (GOOD + b"x", "found 1 bytes behind the payload"),
        (b"\0\0\0\0\0\0\0\0", "invalid type name"),
        (encode_raw("x" * 257, b""), "invalid type name"),
        (encode_raw("ä", b""), "invalid type name"),
        (
            encode_raw("mvsim_msgs.Nothing", b""),
            "found a message 'mvsim_msgs.Nothing', expected RegisterNodeRequest",
        ),
        (encode(messages.ListNodesRequest()), "'mvsim_msgs.ListNodesRequest', expected RegisterNodeRequest"),
        (encode_raw("mvsim_msgs.RegisterNodeRequest", b""), "without nodeName"),
        (
            encode_raw("mvsim_msgs.RegisterNodeRequest", b"\x0a\x05a"),
            "found a damaged mvsim_msgs.RegisterNodeRequest",
        ),
        (encode_raw("mvsim_msgs.RegisterNodeRequest", b"\x0a\x01\xff"), "a text that is not UTF-8"),
    ],
)
def test_damaged_frames_are_refused(frame: bytes, error: str) -> None:
    with pytest.raises(FrameError, match=error):
        decode(frame, "RegisterNodeRequest")


def test_texts_within_messages_are_checked() -> None:
    inner = b"\x0a\x01a\x12\x01b\x22\x01\xff"
    with pytest.raises(FrameError, match="not UTF-8"):
        parse(messages.ListTopicsAnswer, b"\x0a" + bytes([len(inner)]) + inner)


def test_what_lacks_a_field_is_not_sent() -> None:
    with pytest.raises(FrameError, match="pose"):
        encode(messages.TimeStampedPose(unixTimestamp=1, objectId="r"))


def test_names_and_payloads_of_others_are_split() -> None:
    assert split(encode_raw("other.Type", b"abc")) == ("other.Type", b"abc")


READING = Observation(
    "camera",
    "eye",
    1.25,
    Pose(1, 2, 3, 0.1, 0.2, 0.3),
    {
        "image": np.arange(24, dtype=np.uint8).reshape(2, 4, 3),
        "depth": np.zeros((0, 4), ">f4"),
        "one": np.array(2.5),
    },
)


def test_readings_survive_their_encoding() -> None:
    data = encode_observation(READING)
    back = decode_observation(data)
    assert back[:4] == READING[:4] and list(back.arrays) == list(READING.arrays)
    for name, array in READING.arrays.items():
        assert back.arrays[name].shape == array.shape and (back.arrays[name] == array).all()
    assert data[:4] == b"MVG1" and data[-8:] == struct.pack("<d", 2.5)


def refuses_damage(data: bytes) -> None:
    """Checks that cut bytes are refused and changed bytes do not crash."""
    for cut in range(len(data)):
        with pytest.raises(FrameError):
            decode_observation(data[:cut])
    rng = np.random.default_rng(3)
    for _ in range(2000):
        damaged = bytearray(data)
        for _ in range(rng.integers(1, 5)):
            damaged[rng.integers(len(data))] = rng.integers(256)
        with suppress(FrameError):
            decode_observation(bytes(damaged))


def test_damaged_readings_are_refused() -> None:
    data = encode_observation(READING)
    refuses_damage(data)


SCAN = Scan(
    "laser1",
    12.34567,
    Pose(0.1, -0.2, 0.3, math.pi / 2, 0, 0),
    3.0,
    10.0,
    np.array([1, 2.5, 10], np.float32),
    np.array([True, True, False]),
    0.02,
)


def test_bytes_of_a_scan() -> None:
    """By hand, from MRPT's own writers. MRPT 2.5.8 reads these bytes and finds these values."""
    half = math.sqrt(0.5)
    expected = (
        b"\xa2mrpt::obs::CObservation2DRangeScan\x07"
        + struct.pack("<fBf", 3, 1, 10)
        + b"\x94mrpt::poses::CPose3D\x02"
        + struct.pack("<7d", 0.1, -0.2, 0.3, half, 0, 0, half)
        + b"\x88"
        + struct.pack("<I3f3B", 3, 1, 2.5, 10, 1, 1, 0)
        + struct.pack("<fQf", 0.02, 123456700 + 11644473600 * 10**7, math.radians(0.25))
        + struct.pack("<I6sdB", 6, b"laser1", 0, 0)
        + b"\x88"
    )
    data = encode_scan(SCAN)
    at = data.index(b"CPose3D") + 8
    np.testing.assert_allclose(struct.unpack_from("<7d", data, at), (0.1, -0.2, 0.3, half, 0, 0, half), 1e-15)
    assert data[:at] == expected[:at] and data[at + 56 :] == expected[at + 56 :]


def test_scans_survive_their_encoding() -> None:
    poses = [SCAN.pose, Pose(1, 2, 3, -3, 0.7, -2.5), Pose(0, 0, 0, 0.25, -1.5, 0)]
    for pose, count in itertools.product(poses, (3, 0)):
        scan = SCAN._replace(pose=pose, ranges=SCAN.ranges[:count], valid=SCAN.valid[:count])
        back = decode_scan(encode_scan(scan))
        assert (back.sensor, back.time, back.aperture, back.max_range) == ("laser1", 12.34567, 3, 10)
        assert back.deviation == pytest.approx(0.02) and back.pose == pytest.approx(pose)
        assert np.array_equal(back.ranges, scan.ranges) and np.array_equal(back.valid, scan.valid)


def test_damaged_scans_are_refused() -> None:
    data = encode_scan(SCAN)
    refuses_damage(data)
    for more in (data + b"x", data[:36].replace(b"\x07", b"\x09") + data[36:]):
        with pytest.raises(FrameError):
            decode_observation(more)


def test_nothing_of_it_is_imported_unasked() -> None:
    code = "import sys, mvsim_gym, mvsim_gym.comms; print([m for m in ('zmq', 'google.protobuf') if m in sys.modules])"
    assert run_python(code).stdout == "[]\n"


@pytest.mark.parametrize("missing", ["zmq", "google.protobuf"])
def test_what_is_missing_is_named_with_the_remedy(missing: str) -> None:
    code = f"import sys; sys.modules['{missing}'] = None\nfrom mvsim_gym.tools.cli import main\nmain(['node', 'list'])"
    done = run_python(code)
    assert "pip install 'mvsim_gym[zmq]'" in done.stderr and done.stderr.count("\n") == 1
