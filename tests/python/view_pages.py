"""Pages of a view that send what they like, without a browser."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import msgspec
import viser
from browser import wait_for
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from mvsim_gym.view.view import View

CAMERA: dict[str, Any] = {
    "type": "ViewerCameraMessage", "wxyz": (1.0, 0.0, 0.0, 0.0), "position": (0.0, 0.0, 5.0), "fov": 1.0,
    "near": 0.1, "far": 100.0, "image_height": 600, "image_width": 800, "look_at": (0.0, 0.0, 0.0),
    "up_direction": (0.0, 0.0, 1.0),
}  # fmt: skip
CLICK: dict[str, Any] = {
    "type": "ScenePointerMessage", "event_type": "click", "ray_origin": (0.0, 0.0, 5.0),
    "ray_direction": (0.0, 0.0, -1.0), "screen_pos": ((0.5, 0.5),), "modifier": None,
}  # fmt: skip


class Page:
    """A page that sends what it likes."""

    def __init__(self, connection: ClientConnection, view: View) -> None:
        self._connection = connection
        self.ids = {h._impl.props.label: u for u, h in view._server.gui._gui_input_handle_from_uuid.items()}  # type: ignore[attr-defined]

    def send(self, **message: Any) -> None:
        self._connection.send(msgspec.msgpack.encode(message))

    def raw(self, data: bytes | str) -> None:
        self._connection.send(data)

    def update(self, which: str, value: Any, **more: Any) -> None:
        self.send(type="GuiUpdateMessage", uuid=self.ids[which], updates={"value": value, **more})


def take_all(connection: ClientConnection) -> None:
    with suppress(ConnectionClosed):
        for _ in connection:
            pass


@contextmanager
def page(view: View, *, token: bool = True, **options: Any) -> Iterator[Page]:
    """A page of a view, which takes all that is sent to it."""
    url = view.url.replace("http", "ws", 1)
    with connect(
        url if token else url.partition("?")[0],
        subprotocols=[f"viser-v{viser.__version__}"],  # type: ignore[list-item]
        max_size=None,
        proxy=None,
        **options,
    ) as connection:
        before = len(view._server.get_clients())
        connection.send(msgspec.msgpack.encode(CAMERA))
        threading.Thread(target=take_all, args=(connection,), daemon=True).start()
        wait_for(lambda: len(view._server.get_clients()) > before, 20)
        yield Page(connection, view)


def press_and_wait(view: View, seen: Page) -> None:
    """All that a page has sent before has been taken."""
    view.controls.wishes.clear()
    seen.update("Step", True)
    wait_for(lambda: "step" in view.controls.wishes, 20)
