"""The server for browsers: that of the library behind our own access control.

The library (viser) accepts every request and carries out all messages of any page, including share URLs on the
Internet. It has no setting against that. It gets its server and its connections from `websockets`, which supports a
check of requests and another class of connections. This module sets both, only for servers of views.
"""

from __future__ import annotations

import asyncio
import http
import logging
import math
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from mvsim_gym._notices import extra
from mvsim_gym.view.doors import Doors, Gate

if TYPE_CHECKING:
    import viser
    from websockets.http11 import Request, Response

    from mvsim_gym.view.arrivals import Camera, Press

PORT = 8080
_MAX_PAGES = 32
_NOTIFY_EVERY = 6.0  # s of wall time between notifications to a page that only watches
_RATE, _BURST = 200, 400  # messages of a page: per second, and at once; further ones wait
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; worker-src 'self' blob:;"
        " style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:;"
        " connect-src 'self' data: blob: ws://{host} wss://{host}; base-uri 'none'; form-action 'none';"
        " frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_WATCHES = "This page only watches. For control, open the URL that was printed, with its token."


class _Address(str):
    """The address of a server with the guard of that server, which the library passes on unchanged."""

    guard: _Guard


class _Guard:
    """Checks the requests and messages from the network before the library's server sees them."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.is_set = False
        self.server: viser.ViserServer | None = None

    def options(self, serve_file: Any) -> dict[str, Any]:
        """Returns keywords of `websockets.asyncio.server.serve`.

        Args:
            serve_file: function that answers requests for files.
        """
        from mvsim_gym.view.arrivals import MAX_MESSAGE

        logger = logging.getLogger("mvsim_gym.view.websockets")
        logger.addHandler(logging.NullHandler())
        logger.propagate = False  # invalid requests of strangers are not worth a log entry
        self.is_set = True
        return {
            "process_request": lambda page, request: self.answer(page, request, serve_file),
            "create_connection": partial(_page_class(), self),
            "max_size": MAX_MESSAGE,
            "logger": logger,
        }

    def answer(self, page: Any, request: Request, serve_file: Any) -> Response | None:
        """Answers a request with a file or a refusal; returns None if a WebSocket begins."""
        host = ""
        try:
            address, port = page.transport.get_extra_info("sockname")[:2]
            refusal = self.gate.refusal(request, (address, port))
            if refusal is not None:
                answer = page.respond(refusal.status, refusal.text + "\n")
            elif request.headers.get("Upgrade", "").lower() == "websocket":
                answer = self._check_opening(page, request, port)
                if answer is None:
                    return None
            else:
                host = request.headers["Host"]
                answer = serve_file(page, request)
                if (cookie := self.gate.cookie(request, port)) is not None:
                    answer.headers["Set-Cookie"] = cookie
        except Exception:  # duplicate headers, invalid paths
            answer = page.respond(http.HTTPStatus.BAD_REQUEST, "invalid request\n")
        for name, value in _HEADERS.items():
            answer.headers[name] = value.format(host=host)
        return answer

    def passed(self, page: Any, data: Any) -> Camera | Press | None:
        """Returns a message that the library may see; None if it is dropped."""
        from mvsim_gym.view.arrivals import Camera, GuiUpdate, checked, decoded

        message, server = decoded(data), self.server
        if message is None or isinstance(message, Camera) or server is None:
            return message
        handle: Any = None
        if isinstance(message, GuiUpdate):
            handle = server.gui._gui_input_handle_from_uuid.get(message.uuid)  # noqa: SLF001 (viser has no public way)
        if not page.may_press:
            self._restore_element(page, handle, _WATCHES)
            return None
        if not isinstance(message, GuiUpdate):
            return message
        if handle is None:
            return None
        asked = message.updates.value
        value = checked(handle, asked)
        if value is None:
            self._restore_element(page, handle)
            return None
        if value != asked:
            self._restore_element(page, handle, value=value)
        message.updates.value = value
        return message

    async def welcome(self, client: viser.ClientHandle) -> None:
        """Notifies a new page if it only watches."""
        assert self.server is not None
        page: Any = self.server._websock_server._live_connections.get(client.client_id)  # noqa: SLF001 (viser has no public way)
        if page is not None and not page.may_press:
            client.add_notification("mvsim_gym", _WATCHES, auto_close_seconds=15)

    def _check_opening(self, page: Any, request: Request, port: int) -> Response | None:
        """Checks a page that opens a connection; returns a refusal or None."""
        import viser

        if request.headers.get("Sec-WebSocket-Protocol") != f"viser-v{viser.__version__}":
            return page.respond(http.HTTPStatus.BAD_REQUEST, "expected a page of this server\n")
        if self.server is None or len(self.server._websock_server._live_connections) >= _MAX_PAGES:  # noqa: SLF001 (viser has no public way)
            return page.respond(http.HTTPStatus.SERVICE_UNAVAILABLE, "not now\n")
        page.may_press = self.gate.may_press(request, port)
        return None

    def _restore_element(self, page: Any, handle: Any, text: str = "", value: Any = None) -> None:
        """Resets an element in a page that shows another value, and notifies the page, but not too often."""
        from viser._messages import GuiUpdateMessage

        assert self.server is not None
        live = self.server._websock_server._live_connections  # noqa: SLF001 (viser has no public way)
        number = next((number for number, connection in live.items() if connection is page), -1)
        client = self.server.get_clients().get(number)
        if client is None:
            return
        if handle is not None:
            has = handle.value if value is None else value
            client._websock_connection.queue_message(GuiUpdateMessage(handle._impl.uuid, {"value": has}))  # noqa: SLF001 (viser has no public way)
        if text and time.monotonic() >= page.notified_at + _NOTIFY_EVERY:
            page.notified_at = time.monotonic()
            client.add_notification("mvsim_gym", text, auto_close_seconds=6)


@cache
def _page_class() -> Any:
    from websockets.asyncio.server import ServerConnection

    from mvsim_gym.view.arrivals import encoded_message

    class Page(ServerConnection):
        """A connection to a page. The library receives the messages that the guard passes."""

        def __init__(self, guard: _Guard, *given: Any, **options: Any) -> None:
            super().__init__(*given, **options)
            self.may_press = False
            self.notified_at = -math.inf  # time of the last notification, s of a monotonic clock
            self._guard = guard
            self._allowance, self._refilled = float(_BURST), time.monotonic()

        async def recv(self, decode: bool | None = None) -> Any:
            """Returns the next message that passes."""
            while True:
                message = self._guard.passed(self, await super().recv())
                await self._wait()
                if message is not None:
                    return encoded_message(message)

        async def _wait(self) -> None:
            now = time.monotonic()
            self._allowance = min(_BURST, self._allowance + _RATE * (now - self._refilled)) - 1
            self._refilled = now
            if self._allowance < 0:
                await asyncio.sleep(-self._allowance / _RATE)

    return Page


class _PatchedModule:
    def __init__(self, module: Any, **others: Any) -> None:
        self._module = module
        self.__dict__.update(others)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


@cache
def _replace_serve() -> None:
    """Replaces `serve` in the library: servers at an `_Address` get the options of its guard, others stay the same."""
    import websockets
    import websockets.asyncio.server
    from viser.infra import _infra

    plain = websockets.asyncio.server.serve

    def serve(handler: Any, host: Any, port: Any, **options: Any) -> Any:
        if isinstance(host, _Address):
            options |= host.guard.options(options["process_request"])
        return plain(handler, host, port, **options)

    names = _PatchedModule(websockets.asyncio.server, serve=serve)
    _infra.websockets = _PatchedModule(websockets, asyncio=_PatchedModule(websockets.asyncio, server=names))


def open_server(host: str, port: int, doors: Doors | None = None) -> tuple[viser.ViserServer, str]:
    """Opens a server that listens at once. Also returns the query of a URL that gives its page control.

    Args:
        host: an address of this machine.
        port: 0 takes a free one.
        doors: options of the access; by default pages of this server, and control with its token.

    Raises:
        ImportError: the extra `view` is missing.
        ValueError: the server cannot listen there.
    """
    with extra("the view", "view"):
        import viser
    if not 0 <= port <= 65535:
        raise ValueError(f"port: found {port}, expected 0 (any that is free) to 65535")
    _check_free(host, port)
    _replace_serve()
    guard = _Guard(Gate(host, doors or Doors()))
    address = _Address(host)
    address.guard = guard
    with _quiet():
        server = viser.ViserServer(host=address, port=port, verbose=False)
    if not guard.is_set:
        close_server(server)
        raise RuntimeError("view: this version of viser is not supported, expected viser 1.1")
    guard.server = server
    server.on_client_connect(guard.welcome)
    if port and server.get_port() != port:  # the port was taken after the check
        close_server(server)
        raise ValueError(_port_message(host, port))
    server.gui.configure_theme(show_logo=False, show_share_button=False)
    server._websock_server._broadcast_buffer.window_duration_sec = 0.0  # noqa: SLF001 (viser has no public way)
    server.scene.world_axes.visible = False
    return server, guard.gate.query()


def close_server(server: viser.ViserServer) -> None:
    with _quiet():
        server.stop()


@contextmanager
def _quiet() -> Iterator[None]:
    """Silences the library, which prints banners to standard output regardless of its settings."""
    import rich

    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before


def _check_free(host: str, port: int) -> None:
    """Refuses an invalid address or a port in use. The library would silently take the next port, or retry for ever."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(address)
    except OSError as error:
        text = _port_message(host, port) if port else f"view: cannot listen on {host}"
        raise ValueError(f"{text} ({error.strerror})") from None


def _port_message(host: str, port: int) -> str:
    return f"view: cannot listen on {host}:{port}, expected a free port (0 takes any)"
