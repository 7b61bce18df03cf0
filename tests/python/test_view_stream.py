"""How moments come to browsers: the server waits for none, and one that misses a moment gets all of it later.

The bytes are those of the library.
"""

from __future__ import annotations

import asyncio
import struct
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from browser import wait_for

import mvsim_gym

pytest.importorskip("viser", reason="needs the extra 'view'")
import msgspec
import zstandard

from mvsim_gym.view.feed import Feed
from mvsim_gym.view.moment import Moment
from mvsim_gym.view.stream import encoded

ENV = "mvsim/NavArena-v0"


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    """An event loop that runs in a thread, as that of a server."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    yield loop
    loop.call_soon_threadsafe(loop.stop)
    thread.join(5)
    loop.close()


def test_a_feed_shows_the_latest_and_never_waits(loop: asyncio.AbstractEventLoop) -> None:
    shown: list[float] = []
    go = threading.Event()

    def show(moment: Moment) -> None:
        shown.append(moment.time)
        go.wait(5)

    feed = Feed(show, 0.02, loop)
    feed.put(Moment(0.0, []))
    wait_for(lambda: shown)
    began = time.monotonic()
    for i in range(1, 1000):
        feed.put(Moment(float(i), []))
    assert time.monotonic() - began < 1
    assert not feed.is_due, "the last one has not been taken"
    go.set()
    wait_for(lambda: len(shown) == 2)
    assert feed.is_due
    wait_for(lambda: feed._checks_left == 0)  # a server at rest; the next moment wakes it
    feed.put(Moment(1000.0, []))
    wait_for(lambda: len(shown) == 3)
    feed.close()
    feed.put(Moment(1001.0, []))
    time.sleep(0.05)
    assert shown == [0.0, 999.0, 1000.0]


def test_a_feed_keeps_its_failure(loop: asyncio.AbstractEventLoop) -> None:
    feed = Feed(lambda moment: (_ for _ in ()).throw(ValueError("no")), 0.001, loop)
    feed.put(Moment(0.0, []))
    assert str(wait_for(lambda: feed.failure)) == "no"
    feed.close()


def frames_of(data: bytes) -> list[dict[str, Any]]:
    """Returns a message as a page decodes it: by the library's own format, arrays in their places."""
    size, packed = struct.unpack_from("<QQ", data)
    head = zstandard.ZstdDecompressor().decompress(data[16 : 16 + packed])
    assert len(head) == size
    told = msgspec.msgpack.decode(head)
    at, arrays = 16 + packed, []
    for length in told["binaryBufferLengths"]:
        at += -at % 8
        arrays.append(data[at : at + length])
        at += length
    assert at == len(data)
    for message in told["messages"]:
        for key, value in message.get("updates", {}).items():
            message["updates"][key] = np.frombuffer(arrays[value["__binary_index"]], value["dtype"])
    return told["messages"]


@pytest.mark.parametrize("nodes", [0, 1, 5000])
def test_what_moves_is_sent_in_the_librarys_format(nodes: int) -> None:
    sent = {
        f"/node{k}": {"a": np.arange(3, dtype=np.float32) + k, "b": np.arange(k % 7)} for k in range(nodes)
    }
    *messages, place = frames_of(encoded(sent, {"/world": (1.0, 2.0, 3.0)}, "me"))
    assert place == {
        "type": "SetPositionMessage",
        "name": "/world",
        "position": [1.0, 2.0, 3.0],
        "owner": "me",
    }
    assert [message["name"] for message in messages] == list(sent)
    for message in messages:
        assert message["type"] == "SceneNodeUpdateMessage" and message["owner"] == "me"
        for key, values in sent[message["name"]].items():
            np.testing.assert_array_equal(message["updates"][key], values)


def test_who_misses_a_moment_gets_all_of_it_later() -> None:
    """A browser that is slow, one that comes late, one that comes when nothing moves any more."""
    envs = mvsim_gym.VectorEnv(ENV, num_envs=2)
    envs.reset(seed=5)
    with envs.view(port=0) as view:
        view._feed.close()
        stream, loop = view._stage.stream, view._server.get_event_loop()
        got: dict[int, list[list[dict[str, Any]]]] = {1: [], 2: []}
        slow = asyncio.Event()

        class Browser:
            def __init__(self, number: int) -> None:
                self.number = number

            async def send(self, data: bytes) -> None:
                if self.number == 1:
                    await slow.wait()
                got[self.number].append(frames_of(data))

        live = view._server._websock_server._live_connections
        cursors = view._server._websock_server.get_message_buffer().generator_cursors

        def on_loop(call: Any) -> None:
            async def called() -> None:
                call()

            asyncio.run_coroutine_threadsafe(called(), loop).result(5)

        def update(*values: tuple[str, float]) -> None:
            for name, value in values:
                stream.update(f"/x/{name}", {"a": np.array([value], np.float32)})
            on_loop(stream.send)

        live.update({1: Browser(1), 2: Browser(2)})
        cursors.update({1: 10**6, 2: -1})  # the second has not been told of any node yet
        update(("a", 1), ("b", 1))
        update(("a", 2))
        wait_for(lambda: 1 in stream._sending)
        assert not got[2]
        on_loop(slow.set)
        wait_for(lambda: got[1] and not stream._sending)
        cursors[2] = 10**6
        update(("a", 3))
        wait_for(lambda: len(got[1]) == 2 and got[2])
        update(("a", 4))
        wait_for(lambda: len(got[1]) == 3 and len(got[2]) == 2)
        values = {
            k: [{m["name"]: m["updates"]["a"].tolist() for m in frame} for frame in got[k]] for k in got
        }
        whole = {"/x/a": [3.0], "/x/b": [1.0]}
        assert values[2] == [whole, {"/x/a": [4.0]}]
        assert values[1] == [{"/x/a": [1.0], "/x/b": [1.0]}, whole, {"/x/a": [4.0]}]
        on_loop(stream.settle)
        kept = view._server._websock_server.get_message_buffer().message_from_id.values()
        settled = {m.name: m.updates["a"].tolist() for m in kept if getattr(m, "name", "").startswith("/x/")}
        assert settled == {"/x/a": [4.0], "/x/b": [1.0]}
        live.clear()
    envs.close()
