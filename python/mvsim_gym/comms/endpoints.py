"""Endpoints, at which nodes listen: texts such as tcp://127.0.0.1:23700."""

from __future__ import annotations

import ipaddress
import re
import socket

from mvsim_gym.comms.errors import CommsError

PORT = 23700
"""The default port of a hub."""
_TCP = re.compile(r"tcp://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+):([0-9]{1,5})")
_LOOPBACK = "127.0.0.1"


def checked_port(port: int) -> int:
    """Returns a port if it is valid; 0 stands for any free port.

    Raises:
        ValueError: the port is negative or above 65535.
    """
    if not 0 <= port <= 65535:
        raise ValueError(f"port: found {port}, expected 0 (any that is free) to 65535")
    return port


def is_loopback(host: str) -> bool:
    """Whether a host is an address of this machine that no other machine can reach."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def reachable(endpoint: str) -> str:
    """Returns the endpoint to connect to. An endpoint that listens on all addresses is taken to be on this host.

    Raises:
        CommsError: it is no TCP endpoint.
    """
    found = _TCP.fullmatch(endpoint)
    if found is None or not 0 < int(found[2]) <= 65535:
        raise CommsError(f"found the endpoint '{endpoint[:100]}', expected tcp://ADDRESS:PORT")
    host = _LOOPBACK if found[1] in ("0.0.0.0", "[::]") else found[1]
    return f"tcp://{host}:{found[2]}"


def host_of(endpoint: str) -> str:
    return endpoint[len("tcp://") :].rpartition(":")[0]


def address_of(endpoint: str) -> tuple[str, int] | None:
    """The numeric address and the port of a reachable endpoint; None if its host is a name. No name is looked up."""
    host, port = host_of(endpoint).strip("[]"), int(endpoint.rpartition(":")[2])
    try:
        return str(ipaddress.ip_address(_LOOPBACK if host == "localhost" else host)), port
    except ValueError:
        return None


def own_address(hub: str, port: int) -> str:
    """The address of this host that a hub there sees; the loopback address if the hub is here. Nothing is sent.

    Raises:
        CommsError: there is no route to the hub.
    """
    if is_loopback(hub):
        return _LOOPBACK
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((hub, port or PORT))
            return str(probe.getsockname()[0])
    except OSError as error:
        raise CommsError(f"cannot reach a hub at {hub}: {error}") from None
