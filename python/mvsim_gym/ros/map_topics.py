"""Topics of the occupancy grids of a world. Each is written once, and late subscribers receive it too."""

from __future__ import annotations

import numpy as np

from mvsim_gym import _core
from mvsim_gym.parts import Pose
from mvsim_gym.ros.messages import Messages
from mvsim_gym.ros.topics import Qos, Sink, Topic

_ONCE = Qos(1, latched=True)
_VALUES = np.array([0, 100, -1], np.int8)  # values of a free, an occupied and an unknown cell


class MapTopics:
    """The occupancy grids of a world: the first as `simul_map`, further ones as `simul_map_2`, `simul_map_3`, ...

    Args:
        prefix: prefix of the topics.
    """

    def __init__(self, sink: Sink, prefix: str) -> None:
        self._sink, self._prefix = sink, prefix
        self._taken: dict[str, bool] = {}  # offered topics, and whether the sink took them

    def write(self, model: _core.Model, now: int) -> None:
        """Offers and writes the topics; to be called again if the world is replaced.

        Args:
            now: time of the messages, ns.
        """
        messages = Messages(now)
        for k, (cells, resolution, (x, y, yaw)) in enumerate(model.grids, 1):
            name = f"{self._prefix}/simul_map" + (f"_{k}" if k > 1 else "")
            height, width = cells.shape
            info = messages.map_info(resolution, width, height, Pose(x, y, 0, yaw, 0, 0))
            for topic, message in ((name, messages.map(_VALUES[cells], info)), (f"{name}_metadata", info)):
                if topic not in self._taken:
                    self._taken[topic] = self._sink.offer(Topic(topic, message.__msgtype__, _ONCE))
                if self._taken[topic] and self._sink.wants(topic):
                    self._sink.write(topic, message, now)
