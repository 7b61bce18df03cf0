"""The message of `/diagnostics`: how a node is, for rqt_robot_monitor and the like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mvsim_gym.ros.messages import STORE, Message, Messages
from mvsim_gym.ros.topics import Qos, Topic

DIAGNOSTICS = Topic("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", Qos(10))
OK, WARN, ERROR = 0, 1, 2
"""Levels of diagnostic_msgs/DiagnosticStatus."""


def diagnostics(
    nanoseconds: int, name: str, level: int, message: str, values: Mapping[str, object]
) -> Message:
    """Returns a diagnostic_msgs/DiagnosticArray with one status.

    Args:
        nanoseconds: its stamp.
        name: of the node.
        message: one line for people.
        values: further facts by name.
    """

    def made(kind: str, **fields: Any) -> Any:
        return STORE.types[f"diagnostic_msgs/msg/{kind}"](**fields)

    pairs = [made("KeyValue", key=key, value=str(value)) for key, value in values.items()]
    status = made("DiagnosticStatus", level=level, name=name, message=message, hardware_id="", values=pairs)
    return made("DiagnosticArray", header=Messages(nanoseconds).header(""), status=[status])
