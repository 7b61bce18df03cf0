"""Records everything that a drive received and sent as an MCAP file."""

from __future__ import annotations

import os
import threading

from mcap.records import Channel, Message, Schema

from mvsim_gym.recording.mcap_file import McapFile
from mvsim_gym.ros.messages import STORE


class DriveRecording:
    """Writes encoded messages unchanged. All threads may call it.

    Args:
        path: the file; an existing one is overwritten.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._file = McapFile(path, "mvsim_gym drive")
        self._channels: dict[str, int] = {}
        self._schemas: dict[str, int] = {}
        self._count = 0
        self._lock = threading.Lock()

    def write(self, topic: str, kind: str, data: bytes, nanoseconds: int) -> None:
        """Records a message that was received or sent at that time of the wall clock."""
        with self._lock:
            self._write(topic, kind, data, nanoseconds)

    def _write(self, topic: str, kind: str, data: bytes, nanoseconds: int) -> None:
        channel = self._channels.get(topic)
        if channel is None:
            channel = self._channels[topic] = len(self._channels) + 1
            self._file.add(
                Channel(
                    id=channel,
                    topic=topic,
                    message_encoding="cdr",
                    metadata={},
                    schema_id=self._schema(kind),
                )
            )
        self._count += 1
        self._file.add(
            Message(
                channel_id=channel,
                log_time=nanoseconds,
                data=data,
                publish_time=nanoseconds,
                sequence=self._count,
            )
        )

    def _schema(self, kind: str) -> int:
        if kind not in self._schemas:
            self._schemas[kind] = len(self._schemas) + 1
            text, _ = STORE.generate_msgdef(kind, ros_version=2)
            self._file.add(Schema(id=self._schemas[kind], name=kind, encoding="ros2msg", data=text.encode()))
        return self._schemas[kind]

    def close(self) -> None:
        with self._lock:
            self._file.close()
