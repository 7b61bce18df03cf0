"""The server that browsers talk to: the library's, behind doors of ours.

The library (viser) lets in whatever asks, and does what any page sends, share URLs on the Internet included. It has no
setting for that. It asks `websockets` for its server and its connections, which can be told to look at requests and to
have connections of another class: so they are, for its own server alone.
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

__all__ = ["LOOPBACK", "PORT", "close_server", "open_server"]

LOOPBACK = "127.0.0.1"
PORT = 8080
_MAX_PAGES = 32
_TELL_EVERY = 6.0  # s of the wall
_RATE, _BURST = 200, 400  # messages a second of a page, and at once; more have to wait
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
_WATCHES = "This page only watches. To press, open the URL that was printed, with its token."


class _Address(str):
    """An address that a server listens at, on its way through the library, with the guard of that server."""

    guard: _Guard


class _Guard:
    """What stands between the library's server and the network."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.is_set = False
        self.server: viser.ViserServer | None = None

    def options(self, serve_file: Any) -> dict[str, Any]:
        """Keywords of `websockets.asyncio.server.serve`.

        Args:
            serve_file: answers requests for files.
        """
        from mvsim_gym.view.arrivals import MAX_MESSAGE

        logger = logging.getLogger("mvsim_gym.view.websockets")
        logger.addHandler(logging.NullHandler())
        logger.propagate = False  # a stranger's request that makes no sense is no news
        self.is_set = True
        return {
            "process_request": lambda page, request: self.answer(page, request, serve_file),
            "create_connection": partial(_page_class(), self),
            "max_size": MAX_MESSAGE,
            "logger": logger,
        }

    def answer(self, page: Any, request: Request, serve_file: Any) -> Response | None:
        """To a request: a file, a refusal, or None where a WebSocket begins."""
        host = ""
        try:
            address, port = page.transport.get_extra_info("sockname")[:2]
            refusal = self.gate.refusal(request, (address, port))
            if refusal is not None:
                answer = page.respond(refusal.status, refusal.text + "\n")
            elif request.headers.get("Upgrade", "").lower() == "websocket":
                answer = self._opening(page, request, port)
                if answer is None:
                    return None
            else:
                host = request.headers["Host"]
                answer = serve_file(page, request)
                if (cookie := self.gate.cookie(request, port)) is not None:
                    answer.headers["Set-Cookie"] = cookie
        except Exception:  # headers that come twice, paths that are none
            answer = page.respond(http.HTTPStatus.BAD_REQUEST, "this request makes no sense here\n")
        for name, value in _HEADERS.items():
            answer.headers[name] = value.format(host=host)
        return answer

    def passed(self, page: Any, data: Any) -> Camera | Press | None:
        """A message as the library may see it; None: it is dropped."""
        from mvsim_gym.view.arrivals import Camera, GuiUpdate, checked, decoded

        message, server = decoded(data), self.server
        if message is None or isinstance(message, Camera) or server is None:
            return message
        handle: Any = None
        if isinstance(message, GuiUpdate):
            handle = server.gui._gui_input_handle_from_uuid.get(message.uuid)  # noqa: SLF001 (viser has no public way)
        if not page.may_press:
            self._tell_back(page, handle, _WATCHES)
            return None
        if not isinstance(message, GuiUpdate):
            return message
        if handle is None:
            return None
        asked = message.updates.value
        value = checked(handle, asked)
        if value is None:
            self._tell_back(page, handle)
            return None
        if value != asked:
            self._tell_back(page, handle, value=value)
        message.updates.value = value
        return message

    async def welcome(self, client: viser.ClientHandle) -> None:
        """Tells a new page that it only watches, if it does."""
        assert self.server is not None
        page: Any = self.server._websock_server._live_connections.get(client.client_id)  # noqa: SLF001 (viser has no public way)
        if page is not None and not page.may_press:
            client.add_notification("mvsim_gym", _WATCHES, auto_close_seconds=15)

    def _opening(self, page: Any, request: Request, port: int) -> Response | None:
        """To a page that wants to talk."""
        import viser

        if request.headers.get("Sec-WebSocket-Protocol") != f"viser-v{viser.__version__}":
            return page.respond(http.HTTPStatus.BAD_REQUEST, "expected a page of this server\n")
        if self.server is None or len(self.server._websock_server._live_connections) >= _MAX_PAGES:  # noqa: SLF001 (viser has no public way)
            return page.respond(http.HTTPStatus.SERVICE_UNAVAILABLE, "not now\n")
        page.may_press = self.gate.may_press(request, port)
        return None

    def _tell_back(self, page: Any, handle: Any, text: str = "", value: Any = None) -> None:
        """To a page that shows another: the value of an element; and a text, not too often."""
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
        if text and time.monotonic() >= page.told + _TELL_EVERY:
            page.told = time.monotonic()
            client.add_notification("mvsim_gym", text, auto_close_seconds=6)


@cache
def _page_class() -> Any:
    from websockets.asyncio.server import ServerConnection

    from mvsim_gym.view.arrivals import encoded_message

    class Page(ServerConnection):
        """A page, of which the library reads what its guard lets pass."""

        def __init__(self, guard: _Guard, *given: Any, **options: Any) -> None:
            super().__init__(*given, **options)
            self.may_press = False
            self.told = -math.inf  # s of a steady clock, when it was told that it only watches
            self._guard = guard
            self._allowance, self._refilled = float(_BURST), time.monotonic()

        async def recv(self, decode: bool | None = None) -> Any:
            """The next message that passes."""
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


class _Names:
    """A module as another one sees it, some names of which are others."""

    def __init__(self, module: Any, **others: Any) -> None:
        self._module = module
        self.__dict__.update(others)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


@cache
def _set_doors() -> None:
    """Lets the library open servers at an `_Address` by the options of its guard, and all others as ever."""
    import websockets
    import websockets.asyncio.server
    from viser.infra import _infra

    plain = websockets.asyncio.server.serve

    def serve(handler: Any, host: Any, port: Any, **options: Any) -> Any:
        if isinstance(host, _Address):
            options |= host.guard.options(options["process_request"])
        return plain(handler, host, port, **options)

    names = _Names(websockets.asyncio.server, serve=serve)
    _infra.websockets = _Names(websockets, asyncio=_Names(websockets.asyncio, server=names))


def open_server(host: str, port: int, doors: Doors | None = None) -> tuple[viser.ViserServer, str]:
    """Listens at once. With it comes what a URL has behind its path, so that its page may press.

    Args:
        host: an address of this machine.
        port: 0 takes any that is free.
        doors: who may come in; by default pages of this server, of which those with its token may press.

    Raises:
        ImportError: the extra `view` is missing.
        ValueError: nothing can listen there.
    """
    with extra("the view", "view"):
        import viser
    if not 0 <= port <= 65535:
        raise ValueError(f"port: found {port}, expected 0 (any that is free) to 65535")
    _check_free(host, port)
    _set_doors()
    guard = _Guard(Gate(host, doors or Doors()))
    address = _Address(host)
    address.guard = guard
    with _quiet():
        server = viser.ViserServer(host=address, port=port, verbose=False)
    if not guard.is_set:
        close_server(server)
        raise RuntimeError("view: this version of viser opens its server in another way, expected viser 1.1")
    guard.server = server
    server.on_client_connect(guard.welcome)
    if port and server.get_port() != port:  # taken since the check
        close_server(server)
        raise ValueError(_taken(host, port))
    server.gui.configure_theme(show_logo=False, show_share_button=False)
    server._websock_server._broadcast_buffer.window_duration_sec = 0.0  # noqa: SLF001 (viser has no public way)
    server.scene.world_axes.visible = False
    return server, guard.gate.query()


def close_server(server: viser.ViserServer) -> None:
    """Lets go of the port and of all browsers."""
    with _quiet():
        server.stop()


@contextmanager
def _quiet() -> Iterator[None]:
    """The library prints banners on the standard output, whatever it is told."""
    import rich

    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before


def _check_free(host: str, port: int) -> None:
    """The library would silently take the next port, or try for ever where an address is wrong."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(address)
    except OSError as error:
        text = _taken(host, port) if port else f"view: cannot listen on {host}"
        raise ValueError(f"{text} ({error.strerror})") from None


def _taken(host: str, port: int) -> str:
    return f"view: cannot listen on {host}:{port}, expected a free port (0 takes any)"
