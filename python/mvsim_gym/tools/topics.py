"""Commands that show a hub: `mvsim-gym server`, `node` and `topic`."""

from __future__ import annotations

import math
import os
import queue
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial

import numpy as np

from mvsim_gym._notices import printable
from mvsim_gym.comms.client import Client
from mvsim_gym.comms.errors import CommsError, NoAnswer
from mvsim_gym.comms.frames import parse
from mvsim_gym.comms.hub import Hub
from mvsim_gym.comms.messages import TYPES
from mvsim_gym.comms.observation import decode_observation
from mvsim_gym.tools.terminal import ended_by_signals, hear_ctrl_c

_MAX_WAITING = 1000  # received messages that are not printed yet
_LOOK_EVERY = 0.1  # s between checks for the end
_NOTICE_AFTER = 1.0  # s after which a message says that no hub has answered


def serve(host: str, port: int) -> None:
    """Runs a hub until SIGINT (Ctrl-C) or SIGTERM."""
    with ended_by_signals(partial(print, file=sys.stderr)) as ended, Hub(port, host) as hub:
        print(f"hub at {hub.endpoint}, until Ctrl-C", flush=True)
        while not ended():
            time.sleep(_LOOK_EVERY)


@contextmanager
def joined(host: str, port: int) -> Iterator[Client]:
    """Yields a node of a hub; waits for the hub."""
    hear_ctrl_c()
    client = Client(f"mvsim-gym-{os.getpid()}", host=host, port=port)
    try:
        client.connect(_NOTICE_AFTER)
    except NoAnswer:
        print(f"waiting for a hub at {host}:{port}, until Ctrl-C", file=sys.stderr, flush=True)
        client.connect()
    with client:
        yield client


def node_lines(client: Client) -> list[str]:
    names = client.nodes()
    head = [f"# connected to the hub at {client.host}", f"# {len(names)} nodes:"]
    return [*head, *(f'- name: "{_name(name)}"' for name in names)]


def topic_lines(client: Client, *, details: bool = False) -> Iterator[str]:
    for topic in client.topics():
        if details:
            yield f'- name: "{_name(topic.name)}"'
            yield f'  type: "{_name(topic.type)}"'
            yield "  publishers:"
            for endpoint, publisher in zip(topic.endpoints, topic.publishers, strict=False):
                yield f'    - endpoint: "{_name(endpoint)}"'
                yield f'      publisherNode: "{_name(publisher)}"'
        elif len(topic.publishers) == 1:
            yield f"{_name(topic.name)} [{_name(topic.type)}] from node {_name(topic.publishers[0])}"
        else:
            yield f"{_name(topic.name)} [{_name(topic.type)}] from {len(topic.publishers)} publishers."


def _name(text: str) -> str:
    """Returns a text from another node as a part of one line."""
    return printable(text, one_line=True)


def echo(client: Client, topic: str, count: int | None = None) -> Iterator[str]:
    """Yields the messages of a topic as texts, until Ctrl-C or after `count`. Some are missed if they come too fast."""
    waiting: queue.Queue[tuple[str, bytes]] = queue.Queue(_MAX_WAITING)

    def take(kind: str, payload: bytes) -> None:
        with suppress(queue.Full):
            waiting.put_nowait((kind, payload))

    client.subscribe(topic, take)
    left = math.inf if count is None else count
    with suppress(KeyboardInterrupt):
        while left > 0:
            kind, payload = waiting.get()
            left -= 1
            head = f"[{datetime.now():%Y-%m-%d %H:%M:%S.%f}] {_name(kind)} ({len(payload)} bytes)"
            yield f"{head}\n{_text_of(kind, payload)}"


def _text_of(kind: str, payload: bytes) -> str:
    known = TYPES.get(kind)
    if known is None:
        return ""
    try:
        message = parse(known, payload)
        if known.DESCRIPTOR.name != "GenericObservation":
            return str(message)
        reading = decode_observation(message.mrptSerializedObservation)
    except CommsError as error:
        return f"{error}\n"
    arrays = [f"  {name}: {array.dtype} {array.shape}" for name, array in reading.arrays.items()]
    head = f'unixTimestamp: {message.unixTimestamp}\nsourceObjectId: "{message.sourceObjectId}"'
    return "\n".join([head, f"{reading.class_name} '{reading.sensor}'", *arrays, ""])


def received_times(client: Client, topic: str, seconds: float) -> list[float]:
    """Returns the times at which messages of a topic came, s of a monotonic clock."""
    if not (math.isfinite(seconds) and seconds > 0):
        raise ValueError(f"--seconds: found {seconds:g}, expected a number above 0")
    times: list[float] = []
    client.subscribe(topic, lambda *_: times.append(time.monotonic()))
    time.sleep(seconds)
    return list(times)


def rate_lines(times: Sequence[float], seconds: float) -> list[str]:
    """Returns the report of `topic hz` from the times of messages."""
    lines = [f"- ReceivedMsgs: {len(times)}", f"- Rate: {len(times) / seconds:.3f} Hz"]
    periods = np.diff(times)
    if len(periods) == 0:
        return lines
    mean = periods.mean()
    low, high = np.percentile(periods, [5, 95])
    return [
        *lines,
        f"- MeanPeriod: {mean:.6f} s ({1 / mean if mean > 0 else math.inf:.3f} Hz)",
        f"- PeriodStdDev: {periods.std():.6f} s",
        f"- PeriodMin: {periods.min():.6f} s",
        f"- PeriodMax: {periods.max():.6f} s",
        f"- Period_05percent: {low:.6f} s",
        f"- Period_95percent: {high:.6f} s",
    ]
