"""Driving a robot by a policy: `mvsim-gym drive`."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from mvsim_gym._checks import plain_values
from mvsim_gym.deploy import Pipeline, load_policy
from mvsim_gym.deploy.driver import Driver
from mvsim_gym.deploy.limits import robot_names

_GUARD_ENDS = 5.0  # s that the end of the guard may take
_TOPICS = {
    "image": "/image",
    "depth": "/depth/image",
    "points": "/points",
    "fix": "/fix",
    "pose": "/amcl_pose",
    "tf": "/tf",
    "tf_static": "/tf_static",
    "goal": "/goal_pose",
}


def drive(
    policy: str,
    *,
    goals: list[tuple[float, float]],
    robot: str = "none",
    topics: Mapping[str, str | None],
    kind: str | None = None,
    localization: str = "tf",
    frame: str = "map",
    tf_limit: float = 1.0,
    limits: Mapping[str, float],
    box: bool = True,
    max_age: float | None = None,
    dry: bool = False,
    record: str | None = None,
    guard: bool = False,
    duration: float | None = None,
    namespace: str = "",
    stopped: bool = False,
    way: str | None = None,
    domain: int | None = None,
    interface: str | None = None,
    settings: Mapping[str, Any],
) -> int:
    """Drives until Ctrl-C, SIGTERM, the end of `duration` or the last goal. Returns 0 if all goals were reached.

    Raises:
        ValueError: an invalid option, or a policy for another kind of robot.
        OSError, ImportError: a file or an extra is missing.
    """
    from mvsim_gym.ros import network_of, open_transport
    from mvsim_gym.ros.drive_node import NODE, DriveNode, DriveOptions
    from mvsim_gym.ros.robot_readings import check_told
    from mvsim_gym.ros.transport import NodeName, checked_namespace

    node_name = NodeName(NODE, checked_namespace("--namespace", namespace))
    loaded = load_policy(policy)
    names = robot_names(robot)
    given = {name: topic for name, topic in topics.items() if topic is not None}
    usual = {**_TOPICS, "scan": names.scan, "odom": names.odom, "imu": names.imu, "cmd": names.cmd}
    all_topics = {**{name: node_name.namespace + topic for name, topic in usual.items()}, **given}
    keywords = {**loaded.keywords, **settings}
    pipeline = Pipeline(loaded.env, agent=loaded.contract.agent, **keywords)
    check_told(pipeline)
    if max_age is not None:
        ages = {name: {"max_age": max_age} for name in pipeline.sources if name != "goal"}
        pipeline = Pipeline(loaded.env, agent=loaded.contract.agent, sensors=ages, **keywords)
    own = names.limits._replace(**limits, box=box).checked()
    driver = Driver(pipeline, loaded, own)
    chosen = kind or ("ackermann" if driver.steers else names.kind)
    about = {
        "env": loaded.contract.env_id,
        "keywords": plain_values(keywords),
        "agent": loaded.contract.agent,
    }
    options = DriveOptions(
        names=all_topics,
        kind=chosen,
        localization=localization,
        frame=frame,
        tf_limit=tf_limit,
        dry=dry,
        goals=tuple(goals),
        namespace=node_name.namespace,
        stopped=stopped,
        about=about,
    )
    network = network_of(domain, interface)
    with _recorder(record) as write:
        node = DriveNode(driver, open_transport(network, way, node_name), options, record=write, say=_say)
        child = (
            _guard(all_topics["cmd"], chosen, way, network, node_name.namespace)
            if guard and not dry
            else None
        )
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: node.end())
        try:
            node.run(duration)
        finally:
            node.close()
            if child is not None:
                _end_guard(child)
    _say(
        f"{node.reached} of {len(goals)} goals reached; stops: {dict(driver.stops)};"
        f" limits: {dict(driver.interventions)}"
    )
    return 0 if node.reached >= len(goals) else 1


def stop_robot(
    cmd: str, kind: str, way: str | None, domain: int, interface: str, namespace: str = ""
) -> None:
    """Runs in the guard process: waits until the driver ends, and stops the robot if the driver was killed.

    Standard input is a pipe that the driver holds open. It ends with the word `end`, unless the driver was killed.
    """
    import time

    from mvsim_gym.ros import Network, open_transport
    from mvsim_gym.ros.drive_node import COMMANDS, NODE
    from mvsim_gym.ros.messages import STORE, Messages
    from mvsim_gym.ros.transport import NodeName

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    topic = COMMANDS[kind]._replace(name=cmd)
    transport = open_transport(Network(domain, interface), way, NodeName(f"{NODE}_guard", namespace))
    try:
        publisher = transport.publisher(topic)
        if sys.stdin.buffer.read().strip() == b"end":
            return
        for _ in range(50):
            make = Messages(time.time_ns())
            message = {
                "ackermann": lambda m=make: m.drive(0.0, 0.0),
                "stamped": lambda m=make: m.stamped_twist(0.0, 0.0),
                "twist": lambda m=make: m.twist(0.0, 0.0),
            }[kind]()
            publisher.publish(bytes(STORE.serialize_cdr(message, topic.kind)))
            time.sleep(0.02)
    finally:
        transport.close()


def _guard(cmd: str, kind: str, way: str | None, network: Any, namespace: str) -> subprocess.Popen[bytes]:
    """Starts a second process that stops the robot if this one is killed."""
    call = (
        "from mvsim_gym.tools.drive import stop_robot;"
        f"stop_robot({cmd!r}, {kind!r}, {way!r}, {network.domain!r}, {network.interface!r},"
        f" {namespace!r})"
    )
    return subprocess.Popen([sys.executable, "-c", call], stdin=subprocess.PIPE, start_new_session=True)


def _end_guard(child: subprocess.Popen[bytes]) -> None:
    """Tells the guard that the driver ends regularly. A guard that does not end is killed."""
    try:
        child.communicate(b"end\n", timeout=_GUARD_ENDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


@contextmanager
def _recorder(path: str | None) -> Iterator[Any]:
    """Yields a function that writes messages to an MCAP file; None without a path."""
    if path is None:
        yield None
        return
    from mvsim_gym.recording.mcap_file import DriveRecording

    recording = DriveRecording(path)
    try:
        yield recording.write
    finally:
        recording.close()


def _say(text: str) -> None:
    print(text, flush=True)
