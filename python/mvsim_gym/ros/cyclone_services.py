"""Services over Cyclone DDS, as rmw_cyclonedds has them: a topic of requests and one of replies.

Each message begins with a header of 16 bytes, the client's number and that of its request. The reply has the header of
its request. Fast DDS has other headers outside the messages, which cyclonedds does not show: its clients need `--via
rclpy`.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from typing import Any

from mvsim_gym._notices import notice
from mvsim_gym.ros.services import Answer, Service
from mvsim_gym.ros.transport import Publisher

_ENCAPSULATION = 4  # bytes before each message: the byte order, and options
_HEADER = 16
_TAKEN = 100  # requests taken at once
_PATIENCE = 1.0  # s that a reply waits until the discovery has found its client


def request_topic(service: str) -> str:
    """The topic in DDS of the requests of a service."""
    return f"rq{service}Request"


def reply_topic(service: str) -> str:
    """The topic in DDS of the replies of a service."""
    return f"rr{service}Reply"


class ServiceServer:
    """Answers the requests of one service.

    Args:
        reader: of requests.
        writer: of replies.
        publisher: sends encoded messages by the writer.
    """

    def __init__(
        self,
        service: Service,
        reader: Any,
        writer: Any,
        publisher: Publisher,
        answer: Answer,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._service, self._reader, self._writer = service, reader, writer
        self._publisher, self._answer, self._clock = publisher, answer, clock
        self._waiting: list[tuple[float, Any, bytes]] = []  # replies: until when, client, message

    def work(self) -> None:
        for sample in self._reader.take(_TAKEN):
            if sample.sample_info.valid_data:
                writer = self._reader.get_matched_publication_data(sample.sample_info.publication_handle)
                self._take(sample.data, self._participant(writer))
        if self._waiting:
            self._send()

    def _take(self, data: bytes, client: Any) -> None:
        if len(data) <= _ENCAPSULATION + _HEADER:
            notice(
                [
                    f"ros: a request of '{self._service.name}' has no effect: it has no header of Cyclone DDS, so its"
                    " client uses another middleware: set RMW_IMPLEMENTATION=rmw_cyclonedds_cpp there, or use --via"
                    " rclpy here"
                ]
            )
            return
        encoding, rest = data[:_ENCAPSULATION], data[_ENCAPSULATION:]
        reply = self._answer(encoding + rest[_HEADER:])
        if reply is not None:
            order = "<" if encoding[1] & 1 else ">"
            header = struct.pack("<Qq", *struct.unpack(f"{order}Qq", rest[:_HEADER]))  # ours is little endian
            message = reply[:_ENCAPSULATION] + header + reply[_ENCAPSULATION:]
            self._waiting.append((self._clock() + _PATIENCE, client, message))

    def _send(self) -> None:
        """Sends the replies whose clients are known to listen, or that have waited for it long enough. A reply that is
        sent before would be lost."""
        listening = {
            self._participant(self._writer.get_matched_subscription_data(handle))
            for handle in self._writer.get_matched_subscriptions()
        }
        now = self._clock()
        waiting, self._waiting = self._waiting, []
        for until, client, message in waiting:
            if client in listening or now >= until:
                self._publisher.publish(message)
            else:
                self._waiting.append((until, client, message))

    @staticmethod
    def _participant(endpoint: Any) -> Any:
        """The participant of an endpoint; None if it has gone."""
        return None if endpoint is None else endpoint.participant_key
