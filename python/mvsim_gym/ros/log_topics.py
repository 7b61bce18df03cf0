"""The columns of the CSV files of vehicles as topics: one number for each column and step."""

from __future__ import annotations

from collections.abc import Mapping

from mvsim_gym import _core
from mvsim_gym.ros.messages import Messages, word
from mvsim_gym.ros.topics import HISTORY, Qos, Sink, Topic

_KIND = "std_msgs/msg/Float64"


class LogTopics:
    """Topics `log/pose/COLUMN`, `log/wheel_1/COLUMN`, ... of each vehicle.

    Args:
        prefixes: prefixes of the topics of each vehicle, by its index in the world.
        history: number of messages that a topic keeps.
    """

    def __init__(
        self, sink: Sink, simulation: _core.Simulation, prefixes: Mapping[int, str], history: int = HISTORY
    ) -> None:
        self._sink = sink
        self._simulation = simulation
        self._log: _core.StepLog | None = _core.StepLog(simulation)
        self._topics: dict[int, list[list[str]]] = {}  # by vehicle and table
        for vehicle, prefix in prefixes.items():
            tables = self._topics[vehicle] = []
            for k, columns in enumerate(self._log.columns(vehicle)):
                table = "pose" if k == 0 else f"wheel_{k}"
                tables.append([f"{prefix}/log/{table}/{word(column)}" for column in columns])
                for name in tables[-1]:
                    sink.offer(Topic(name, _KIND, Qos(history)))

    def write(self, now: int) -> None:
        """Writes the values of the last step that have a receiver."""
        if self._log is None:
            return
        for vehicle, tables in self._topics.items():
            wanted = [[self._sink.wants(name) for name in names] for names in tables]
            if not any(map(any, wanted)):
                continue
            for names, row, wants in zip(tables, self._log.rows(vehicle), wanted, strict=False):
                for name, value, heard in zip(names, row, wants, strict=True):
                    if heard:
                        self._sink.write(name, Messages.value("Float64", value), now)

    def forget(self) -> None:
        """Begins anew after a reset of the world, which has made no step yet."""
        self._log = _core.StepLog(self._simulation)

    def close(self) -> None:
        """Stops observing the world."""
        self._log = None
