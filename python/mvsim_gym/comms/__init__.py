"""Communication with other programs by nodes, topics and services over ZeroMQ, in the protocol of MVSim's clients.

    from mvsim_gym.comms import Client, Hub, WorldNode, messages

This package needs the extra `zmq`. docs/tools-topics.md has an example of each class.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mvsim_gym.comms import messages
    from mvsim_gym.comms.client import Client, Topic
    from mvsim_gym.comms.endpoints import PORT
    from mvsim_gym.comms.errors import CommsError, FrameError
    from mvsim_gym.comms.hub import Hub
    from mvsim_gym.comms.observation import Observation, decode_observation
    from mvsim_gym.comms.world_node import WorldNode

__all__ = [
    "PORT",
    "Client",
    "CommsError",
    "FrameError",
    "Hub",
    "Observation",
    "Topic",
    "WorldNode",
    "decode_observation",
    "messages",
]

_HOMES = {
    "PORT": "endpoints",
    "Client": "client",
    "CommsError": "errors",
    "FrameError": "errors",
    "Hub": "hub",
    "Observation": "observation",
    "Topic": "client",
    "WorldNode": "world_node",
    "decode_observation": "observation",
}


def __getattr__(name: str) -> Any:
    if name == "messages":
        return importlib.import_module("mvsim_gym.comms.messages")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(importlib.import_module(f"mvsim_gym.comms.{home}"), name)
