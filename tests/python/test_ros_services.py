"""Real ROS 2 as the client: a node of rclpy calls the services of `mvsim-gym drive` and reads and sets its parameters.
Run by `./dev ros`."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs rclpy: ./dev ros")
pytest.importorskip("std_srvs", reason="needs ros-std-srvs: ./dev ros")

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.parameter_client import AsyncParameterClient
from ros_bus import NAMES
from std_srvs.srv import SetBool, Trigger

from mvsim_gym.deploy import Pipeline
from mvsim_gym.deploy.driver import Driver
from mvsim_gym.ros import Network, open_transport
from mvsim_gym.ros.drive_node import DriveNode, DriveOptions
from mvsim_gym.ros.transport import NodeName

pytestmark = [pytest.mark.ros, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
DOMAIN = 1 + os.getpid() % 100
PATIENCE = 40  # s


@pytest.fixture
def node() -> Iterator[DriveNode]:
    driver = Driver(Pipeline("mvsim/NavArena-v0"), lambda seen: np.zeros(2, np.float32))
    transport = open_transport(Network(DOMAIN), "rclpy", NodeName("drive", "/r1"))
    options = DriveOptions(NAMES, namespace="/r1", localization="odom")
    found = DriveNode(driver, transport, options, say=lambda text: None)
    thread = threading.Thread(target=found.run, daemon=True)
    thread.start()
    yield found
    found.end()
    thread.join(PATIENCE)
    found.close()
    assert not thread.is_alive()


@pytest.fixture
def client() -> Iterator[Any]:
    context = rclpy.Context()
    context.init(args=[], domain_id=DOMAIN)
    found = rclpy.create_node("client", context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(found)
    yield found, executor
    executor.shutdown()
    found.destroy_node()
    context.shutdown()


def test_a_real_client_starts_stops_pauses_and_sets(node: DriveNode, client: Any) -> None:
    own, executor = client

    def done(future: Any) -> Any:
        executor.spin_until_future_complete(future, timeout_sec=PATIENCE)
        assert future.done(), "waited in vain"
        return future.result()

    def call(kind: Any, name: str, **fields: Any) -> tuple[bool, str]:
        service = own.create_client(kind, f"/r1/drive/{name}")
        assert service.wait_for_service(timeout_sec=PATIENCE)
        reply = done(service.call_async(kind.Request(**fields)))
        return reply.success, reply.message

    assert call(Trigger, "start") == (False, "it was started already")
    assert call(SetBool, "pause", data=True) == (True, "paused") and node.driver.is_paused
    assert call(SetBool, "pause", data=False) == (True, "goes on") and not node.driver.is_paused
    assert call(Trigger, "stop") == (True, "stopped") and node.driver.is_stopped
    assert call(Trigger, "start") == (True, "started, waits for a goal")

    parameters = AsyncParameterClient(own, "/r1/drive")
    assert parameters.wait_for_services(timeout_sec=PATIENCE)
    names = done(parameters.list_parameters([], 0)).result.names
    assert {"max_speed", "max_age.lidar", "rate"} <= set(names)
    limit, rate = done(parameters.get_parameters(["max_speed", "rate"])).values
    assert limit.double_value == float("inf") and rate.double_value == pytest.approx(5)
    (described,) = done(parameters.describe_parameters(["rate"])).descriptors
    assert described.read_only and described.name == "rate"
    wanted = [Parameter("max_speed", value=0.1), Parameter("rate", value=10.0)]
    good, bad = done(parameters.set_parameters(wanted)).results
    assert good.successful and node.driver.limits.speed == 0.1
    assert not bad.successful and bad.reason == "rate: it cannot be changed"
    assert not done(parameters.set_parameters_atomically(wanted)).result.successful
    kinds = dict(own.get_service_names_and_types_by_node("drive", "/r1"))
    assert kinds["/r1/drive/pause"] == ["std_srvs/srv/SetBool"] and len(kinds) >= 9
