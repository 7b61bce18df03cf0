"""The message by which a node of ROS 2 announces its name and its endpoints (rmw_dds_common). `ros2 node list` shows
the nodes that send it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from rosbags.typesys import Stores, get_typestore

from mvsim_gym.ros.topics import Qos
from mvsim_gym.ros.transport import NodeName

TOPIC = "ros_discovery_info"
KIND = "rmw_dds_common/msg/ParticipantEntitiesInfo"
QOS = Qos(1, latched=True)
STORE = get_typestore(Stores.ROS2_JAZZY)
"""The types as from ROS 2 Iron on, with GUIDs of 16 bytes; before, they had 24."""


def graph_message(
    node: NodeName, participant: bytes, readers: Sequence[bytes], writers: Sequence[bytes]
) -> bytes:
    """Returns the encoded message of a DDS participant with one node; GUIDs have 16 bytes."""
    gid, info = (STORE.types[f"rmw_dds_common/msg/{name}"] for name in ("Gid", "NodeEntitiesInfo"))

    def made(guid: bytes) -> Any:
        return gid(data=np.frombuffer(guid, np.uint8))

    own = info(
        node_namespace=node.namespace or "/",
        node_name=node.name,
        reader_gid_seq=[made(guid) for guid in readers],
        writer_gid_seq=[made(guid) for guid in writers],
    )
    message = STORE.types[KIND](gid=made(participant), node_entities_info_seq=[own])
    return bytes(STORE.serialize_cdr(message, KIND))
