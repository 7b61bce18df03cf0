"""Properties that change all the time, sent to browsers in one message for each moment, past the library's queue.

That queue keeps each property of each node separately, encodes it for each browser, and wakes its thread several times
a moment. This would slow down training more than the rest of the view. The queue gets the values after a while without
changes, so that browsers that connect later see them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from mvsim_gym._notices import extra, notice

with extra("the view", "view"):
    import msgspec
    from websockets.exceptions import ConnectionClosed

if TYPE_CHECKING:
    import viser

Arrays = Mapping[str, npt.NDArray[Any]]
Place = tuple[float, float, float]
_POSITION = "SetPositionMessage"


class Stream:
    """Properties and positions of nodes, by name. `send` is called on the server's event loop. A browser that has not
    taken its last message misses moments; when it has, it gets everything."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._server = server
        self._all: dict[str, dict[str, npt.NDArray[Any]]] = {}
        self._new: dict[str, dict[str, npt.NDArray[Any]]] = {}  # since the last message
        self._places: dict[str, Place] = {}
        self._moved: dict[str, Place] = {}
        self._unsettled: set[str] = set()  # nodes whose last values the library's queue does not have
        self._needed = -1  # number of the library's message that made the last of these nodes
        self._complete: set[int] = set()  # browsers that have everything except the new values
        self._sending: dict[int, asyncio.Task[None]] = {}

    def update(self, name: str, arrays: Arrays) -> None:
        """Sets properties of a node. The arrays must not change afterwards."""
        self._register(name, self._all)
        self._all.setdefault(name, {}).update(arrays)
        self._new.setdefault(name, {}).update(arrays)

    def move(self, name: str, place: Place) -> None:
        self._register(name, self._places)
        self._places[name] = self._moved[name] = place

    def send(self) -> None:
        """Sends one message with the new values to each browser."""
        new, moved, self._new, self._moved = self._new, self._moved, {}, {}
        websocket = self._server._websock_server  # noqa: SLF001 (viser has no public way)
        owner = self._server.scene._owner_id  # noqa: SLF001 (viser has no public way)
        live, queue = websocket._live_connections, websocket.get_message_buffer()  # noqa: SLF001 (viser has no public way)
        self._complete &= live.keys()
        data: dict[bool, bytes] = {}
        for browser, connection in list(live.items()):
            if browser in self._sending or queue.generator_cursors.get(browser, -1) < self._needed:
                self._complete.discard(browser)
                continue
            has_rest = browser in self._complete
            if has_rest not in data:
                what = (new, moved) if has_rest else (self._all, self._places)
                data[has_rest] = encoded(*what, owner) if any(what) else b""
            self._complete.add(browser)
            if data[has_rest]:
                self._sending[browser] = asyncio.ensure_future(
                    self._deliver(browser, connection, data[has_rest])
                )

    @property
    def is_taken(self) -> bool:
        """Whether every browser has taken everything that was sent."""
        websocket = self._server._websock_server  # noqa: SLF001 (viser has no public way)
        queue = websocket.get_message_buffer()
        last = queue.message_counter - 1
        cursors = queue.generator_cursors
        return not self._sending and all(
            cursors.get(browser, -1) >= last
            for browser in list(websocket._live_connections)  # noqa: SLF001 (viser has no public way)
        )

    def settle(self) -> None:
        """Puts the present values into the library's queue."""
        from viser._messages import SceneNodeUpdateMessage, SetPositionMessage

        scene, self._unsettled, names = self._server.scene, set(), self._unsettled
        for name in sorted(names):
            if name in self._all:
                scene._queue_scene_message(SceneNodeUpdateMessage(name, dict(self._all[name])))  # noqa: SLF001 (viser has no public way)
            if name in self._places:
                scene._queue_scene_message(SetPositionMessage(name, self._places[name]))  # noqa: SLF001 (viser has no public way)
        if names:  # a browser that has not read up to here would take these for newer than what it was sent
            self._needed = self._server._websock_server.get_message_buffer().message_counter - 1  # noqa: SLF001 (viser has no public way)

    async def _deliver(self, browser: int, connection: Any, data: bytes) -> None:
        try:
            await connection.send(data)
        except ConnectionClosed:
            pass
        except Exception as error:
            self._complete.discard(browser)  # it gets everything again
            notice([f"view: a moment did not reach a browser: {error}"])
        finally:
            self._sending.pop(browser, None)

    def _register(self, name: str, among: Mapping[str, Any]) -> None:
        self._unsettled.add(name)
        if name not in among:
            self._needed = self._server._websock_server.get_message_buffer().message_counter - 1  # noqa: SLF001 (viser has no public way)


def encoded(properties: Mapping[str, Arrays], places: Mapping[str, Place], owner: str) -> bytes:
    """Returns messages that set properties and positions, in the library's format.

    They begin with the sizes of a part in MessagePack, unpacked and packed (zstd), and that part. The arrays that it
    numbers follow, each at a multiple of 8 bytes.
    """
    arrays: list[bytes] = []
    messages: list[dict[str, Any]] = []
    for name, own in properties.items():
        updates = {}
        for key, values in own.items():
            updates[key] = {"__binary_index": len(arrays), "dtype": values.dtype.str}
            arrays.append(values.tobytes())
        messages.append({"type": "SceneNodeUpdateMessage", "name": name, "updates": updates, "owner": owner})
    for name, place in places.items():
        messages.append({"type": _POSITION, "name": name, "position": place, "owner": owner})
    header = {
        "messages": messages,
        "timestampSec": time.perf_counter(),
        "binaryBufferLengths": [len(data) for data in arrays],
    }
    head = msgspec.msgpack.encode(header)
    packed = _unpacked_frame(head)
    parts = [len(head).to_bytes(8, "little"), len(packed).to_bytes(8, "little"), packed]
    size = 16 + len(packed)
    for data in arrays:
        parts += [b"\0" * (-size % 8), data]
        size += -size % 8 + len(data)
    return b"".join(parts)


_BLOCK = 2**17  # bytes, largest block


def _unpacked_frame(data: bytes) -> bytes:
    """Returns a zstd frame (RFC 8878) with uncompressed data. The data are few, so compression would cost more."""
    parts = [b"\x28\xb5\x2f\xfd\xa0", len(data).to_bytes(4, "little")]  # one segment, its size in 4 bytes
    for at in range(0, max(len(data), 1), _BLOCK):
        block = data[at : at + _BLOCK]
        is_last = at + _BLOCK >= len(data)
        parts += [(len(block) << 3 | is_last).to_bytes(3, "little"), block]
    return b"".join(parts)
