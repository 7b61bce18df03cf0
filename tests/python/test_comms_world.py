"""A world as a node: what its services do, by the facts of MVSim's protocol."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("zmq", reason="needs the extra zmq")

import zmq
from comms_nodes import POSE, YARD, Bare, Running, running, wait_for
from pages import code_of

from mvsim_gym import World
from mvsim_gym.comms import Client, CommsError, Hub, WorldNode, messages
from mvsim_gym.comms.frames import decode, encode

TWIST = ("vx", "vy", "vz", "wx", "wy", "wz")


@pytest.fixture(scope="module")
def yard() -> Iterator[Running]:
    with running(relative={"r1": ["r2", "box"]}) as runs:
        yield runs


def test_the_world_is_a_node(yard: Running) -> None:
    assert "World" in yard.client.nodes()


def test_set_pose_and_get_pose() -> None:
    with running() as runs:
        answer = runs.set_pose("r1", x=-2, y=-1, yaw=0.7)
        assert answer.success and not answer.HasField("objectGlobalPose")
        runs.let_pass(2)
        found = runs.get_pose("r1")
        assert found.success
        assert (found.pose.x, found.pose.y, found.pose.yaw) == pytest.approx((-2, -1, 0.7), abs=1e-6)


def test_an_increment_is_in_the_frame_of_the_body() -> None:
    with running() as runs:
        runs.set_pose("r1", x=-2, y=-1, yaw=math.pi / 2)
        answer = runs.move("r1", x=1)
        pose = answer.objectGlobalPose
        assert answer.success and answer.HasField("objectGlobalPose")
        assert (pose.x, pose.y, pose.yaw) == pytest.approx((-2, 0, math.pi / 2), abs=1e-6)
        assert runs.move("box", y=0.5).objectGlobalPose.y == pytest.approx(0.5)


def test_velocities_outlast_set_pose() -> None:
    with running() as runs:
        runs.drive("r1", 0.5)
        wait_for(lambda: runs.get_pose("r1").twist.vx > 0.45)
        runs.set_pose("r1", x=-2, y=-1, yaw=math.pi / 2)
        runs.let_pass(3)
        twist = runs.get_pose("r1").twist
        assert twist.vx > 0.4 and abs(twist.vy) < 0.05


@pytest.mark.parametrize(
    ("name", "pose", "error"),
    [
        ("nobody", {}, "there is no vehicle or block 'nobody'"),
        ("r1", {"x": math.nan}, "nan"),
        ("r1", {"x": 1e9}, "1000 km"),
        ("post", {}, "static"),
    ],
)
def test_poses_that_cannot_be_set(yard: Running, name: str, pose: dict[str, float], error: str) -> None:
    answer = yard.set_pose(name, **pose)
    assert not answer.success and not answer.objectIsInCollision and error in answer.errorMessage


def test_the_pose_of_nobody(yard: Running) -> None:
    answer = yard.get_pose("nobody")
    assert not answer.success and "'nobody'" in answer.errorMessage and not answer.HasField("pose")
    assert yard.get_pose("post").pose.y == -2  # what stands has one, too


def test_a_twist_is_in_the_frame_of_the_body_and_stays() -> None:
    with running() as runs:
        runs.set_pose("r1", x=-2, y=-2, yaw=math.pi / 2)
        assert runs.drive("r1", 1.0).success
        runs.let_pass(150)
        first = runs.get_pose("r1")
        runs.let_pass(100)
        later = runs.get_pose("r1")
        for answer in (first, later):
            assert answer.twist.vx == pytest.approx(1, abs=0.05) and abs(answer.twist.vy) < 0.02
        assert later.pose.y > first.pose.y + 0.8


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("box", "'box' is not a vehicle"),
        ("r2", "the controller 'raw' of 'r2' takes no twists"),
        ("nobody", "there is no vehicle or block 'nobody'"),
    ],
)
def test_who_takes_no_twist(yard: Running, name: str, error: str) -> None:
    answer = yard.drive(name, 1.0)
    assert not answer.success and answer.errorMessage == error


@pytest.mark.parametrize(
    ("vx", "error"),
    [(math.nan, "not finite"), (math.inf, "not finite"), (-math.inf, "not finite")],
)
def test_a_twist_that_is_none(yard: Running, vx: float, error: str) -> None:
    answer = yard.drive("r1", vx)
    assert not answer.success and error in answer.errorMessage


def test_twists_beyond_all_bounds_are_clipped(caplog: pytest.LogCaptureFixture) -> None:
    with running() as runs:
        for vx in (1.1e4, -1e18, 1e300):
            assert runs.drive("r1", vx).success
            runs.let_pass(20)
            assert math.isfinite(runs.world.vehicles["r1"].pose.x)
    assert "of 'r1' beyond 10000 is clipped" in caplog.text


def test_collisions_are_told_once() -> None:
    with running() as runs:
        assert not runs.get_pose("r1").objectIsInCollision
        runs.set_pose("r1", x=0.05, y=0)
        runs.drive("r1", 0.5)
        assert wait_for(lambda: runs.get_pose("r1").objectIsInCollision)
        assert wait_for(lambda: runs.set_pose("r1", x=-2, y=-2).objectIsInCollision or True)
        runs.drive("r1", 0)
        runs.let_pass(5)
        runs.get_pose("r1")
        runs.let_pass(5)
        assert not runs.get_pose("r1").objectIsInCollision


def test_fuzzed_calls() -> None:
    """Every call gets one answer that can be read, and the world goes on."""
    rng = np.random.default_rng(5)
    pose = messages.Pose(**POSE)
    requests = [
        ("set_pose", messages.SrvSetPose(objectId="r1", pose=pose, relativeIncrement=True)),
        ("get_pose", messages.SrvGetPose(objectId="box")),
        (
            "set_controller_twist",
            messages.SrvSetControllerTwist(objectId="r1", twistSetPoint=dict.fromkeys(TWIST, 0.1)),
        ),
    ]
    with running() as runs, Bare(runs.client.port) as bare:
        line = bare.socket(zmq.REQ)
        line.connect(bare.ask(messages.GetServiceInfoRequest(serviceName="set_pose")).serviceEndpoint)
        for _ in range(800):
            name, request = requests[rng.integers(3)]
            data = bytearray(request.SerializeToString())
            for _ in range(rng.integers(0, 4)):
                data[rng.integers(len(data))] = rng.integers(256)
            cut = rng.integers(len(data) // 2, len(data) + 5)
            call = bytearray(
                encode(messages.CallService(serviceName=name, serializedInput=bytes(data[:cut])))
            )
            if rng.integers(3) == 0:
                call[rng.integers(len(call))] = rng.integers(256)
            line.send(bytes(call))
            decode(line.recv())
        runs.let_pass(3)
        assert runs.set_pose("r1", x=-2, y=-2).success and np.isfinite(runs.get_pose("r1").pose.x)


def test_shutdown_ends_the_loop() -> None:
    with running() as runs:
        assert runs.client.call("shutdown", messages.SrvShutdown()).accepted
        assert wait_for(lambda: runs.node.is_ended)


def test_services_while_the_world_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between steps calls are answered; if the node is not updated, an error comes in time."""
    monkeypatch.setattr("mvsim_gym.comms.world_services._PATIENCE", 0.2)
    with running() as runs:
        runs.may_step = False
        time.sleep(0.02)
        assert runs.set_pose("r1", x=-2).success and runs.get_pose("r1").pose.x == -2
        runs.stop()
        assert runs.get_pose("r1").pose.x == -2  # from the copy
        with pytest.raises(CommsError, match="the world is not stepped"):
            runs.set_pose("r1", x=1)


def test_a_world_that_goes_back_in_time() -> None:
    """After a snapshot is restored readings and poses come again, with the stamps of the world."""
    with Hub(0) as hub, Client("test", port=hub.port) as client:
        world = World(YARD)
        state = world.snapshot()
        with WorldNode(world, port=hub.port) as node:
            stamps: list[float] = []
            client.subscribe(
                "/r1/laser1_scan",
                lambda _, data: stamps.append(messages.ObservationLidar2D.FromString(data).unixTimestamp),
            )
            for _ in range(2):
                count = len(stamps)

                def more(count: int = count) -> bool:
                    world.step()
                    node.update()
                    return len(stamps) > count + 2

                wait_for(more)
                world.restore(state)
            assert min(np.diff(stamps)) < 0 and max(np.diff(stamps)) == pytest.approx(0.1)


def test_a_name_of_mvsims_python_users() -> None:
    """The two calls and the two types that programs for MVSim's client rely on."""
    with running() as runs:
        data = runs.client.callService("get_pose", messages.SrvGetPose(objectId="r1").SerializeToString())
        assert messages.SrvGetPoseAnswer.FromString(data).success
        heard: list[tuple[object, object]] = []
        runs.client.subscribeTopic("/r1/pose", lambda kind, payload: heard.append((kind, payload)))
        kind, payload = wait_for(lambda: heard)[0]
        assert kind == "mvsim_msgs.TimeStampedPose" and type(payload) is bytes


def test_the_pilot_of_the_page(yard: Running, capsys: pytest.CaptureFixture[str]) -> None:
    code = code_of("pilot").replace('Client("pilot")', f'Client("pilot", port={yard.client.port})')
    exec(code, {})
    assert "['test', 'World', 'pilot']" in capsys.readouterr().out
    yard.drive("r1", 0)


def test_the_node_of_the_page() -> None:
    names: dict[str, Any] = {}
    exec(code_of("node").replace('"my.world.xml"', repr(str(YARD))), names)
    assert names["world"].time == pytest.approx(1)
