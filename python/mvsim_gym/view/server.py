"""The server that browsers talk to."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mvsim_gym._extras import extra

if TYPE_CHECKING:
    import viser

__all__ = ["LOOPBACK", "PORT", "close_server", "open_server"]

LOOPBACK = "127.0.0.1"
PORT = 8080


def open_server(host: str, port: int) -> viser.ViserServer:
    """Listens at once.

    Args:
        host: an address of this machine.
        port: 0 takes any that is free.

    Raises:
        ImportError: the extra `view` is missing.
        ValueError: nothing can listen there.
    """
    with extra("the view", "view"):
        import viser
    if not 0 <= port <= 65535:
        raise ValueError(f"port: found {port}, expected 0 (any that is free) to 65535")
    _check_free(host, port)
    with _quiet():
        server = viser.ViserServer(host=host, port=port, verbose=False)
    if port and server.get_port() != port:  # taken since the check
        close_server(server)
        raise ValueError(_taken(host, port))
    server.gui.configure_theme(show_logo=False, show_share_button=False)
    server._websock_server._broadcast_buffer.window_duration_sec = 0.0
    server.scene.world_axes.visible = False
    return server


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
