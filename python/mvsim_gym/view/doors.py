"""Access to a view. A request must name this server and come from its own pages; control needs the token as well.

A browser sends requests for any page that is open in it. So web sites can reach a server that only listens on this
machine. `Origin` names the page that asks, and a page cannot change it. `Host` names the server that the browser
believes to ask. It reveals a foreign name that resolves to this machine (DNS rebinding).
"""

from __future__ import annotations

import hmac
import http
import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

if TYPE_CHECKING:
    from websockets import Headers
    from websockets.http11 import Request

    from mvsim_gym.view.view import View

_PLACE = re.compile(r"(\[[0-9a-f:.]+\]|[^\s:@/\\?#\[\]]+)(?::([0-9]{1,5}))?")
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_WILDCARDS = ("", "0.0.0.0", "::")
_QUERIES = frozenset({"token", "darkMode"})
"""Accepted queries. The page knows others: `websocket` and `playbackPath` would connect it to another server."""


@dataclass(frozen=True)
class Doors:
    """Options of the access to a view.

    Args:
        token: a page needs the token of the printed URL for control; without it, it only watches.
        allow_hosts: further names, `NAME` or `NAME:PORT`, under which browsers reach this server.

    Raises:
        ValueError: a host is neither a name nor an address.
    """

    token: bool = True
    allow_hosts: Sequence[str] = ()

    def __post_init__(self) -> None:
        for host in self.allow_hosts:
            if not _PLACE.fullmatch(host.lower()):
                raise ValueError(
                    f"allow_hosts: found '{host}', expected NAME or NAME:PORT, such as sim.example.org:8080"
                )


def doors_of(viewed: str, former: View | None, token: bool, allow_hosts: Sequence[str]) -> Doors:
    """Returns the access options of a new view.

    Raises:
        ValueError: a host is invalid, or the former view is still open.
    """
    if former is not None and not former.closed:
        raise ValueError(f"view: found a view of {viewed} at {former.url}, expected close() of that first")
    return Doors(token, tuple(allow_hosts))


@dataclass(frozen=True)
class Refusal:
    status: http.HTTPStatus
    text: str


class Gate:
    """Accepts or refuses requests to one server.

    Args:
        host: the address at which the server listens.
    """

    def __init__(self, host: str, doors: Doors) -> None:
        self._token = secrets.token_urlsafe(24) if doors.token else None
        self._names = {*_LOOPBACK, _bracketed(host)} - {""}
        self._is_wildcard = host in _WILDCARDS
        self._allowed = {text.lower() for text in doors.allow_hosts}

    def query(self) -> str:
        """The query, behind the path of a URL, that gives a page control."""
        return "" if self._token is None else f"?token={self._token}"

    def refusal(self, request: Request, here: tuple[str, int]) -> Refusal | None:
        """Returns why a request is refused; None if it is accepted.

        Args:
            here: the address and the port at which the request came in.
        """
        hosts, origins = request.headers.get_all("Host"), request.headers.get_all("Origin")
        if len(hosts) != 1 or len(origins) > 1:
            return Refusal(http.HTTPStatus.BAD_REQUEST, "expected one Host, and at most one Origin")
        if not self._is_own(hosts[0], here):
            return _foreign("Host", hosts[0], hosts[0])
        if origins and not self._is_own_origin(origins[0], here):
            return _foreign("Origin", origins[0], origins[0].partition("://")[2])
        for name, _ in parse_qsl(urlsplit(request.path).query, keep_blank_values=True):
            if name not in _QUERIES:
                return Refusal(
                    http.HTTPStatus.BAD_REQUEST, f"found {name!a:.80} in the address, expected token"
                )
        return None

    def may_press(self, request: Request, port: int) -> bool:
        """Whether a request has the token, in its URL or in the cookie from `cookie`."""
        if self._token is None:
            return True
        return self._is_token(self._tokens_of_query(request)) or self._is_token(
            _tokens_of_cookies(request.headers, port)
        )

    def cookie(self, request: Request, port: int) -> str | None:
        """Returns a cookie that keeps the token of a page's URL for further requests; None without a token."""
        if self._token is None or not self._is_token(self._tokens_of_query(request)):
            return None
        return f"{_cookie_name(port)}={self._token}; Path=/; HttpOnly; SameSite=Strict"

    def _tokens_of_query(self, request: Request) -> list[str]:
        return [value for name, value in parse_qsl(urlsplit(request.path).query) if name == "token"]

    def _is_token(self, found: Iterable[str]) -> bool:
        expected = (self._token or "").encode()
        return True in [
            hmac.compare_digest(text.encode("utf-8", "surrogatepass"), expected) for text in found
        ]

    def _is_own_origin(self, origin: str, here: tuple[str, int]) -> bool:
        scheme, _, place = origin.partition("://")
        return scheme in ("http", "https") and self._is_own(place, here)

    def _is_own(self, place: str, here: tuple[str, int]) -> bool:
        place = place.lower()
        found = _PLACE.fullmatch(place)
        if found is None:
            return False
        name, port = found[1], found[2]
        address, own_port = here
        if place in self._allowed:
            return True
        if name in self._allowed:
            return port is None or int(port) == own_port
        if int(port or 80) != own_port:
            return False
        return name in self._names or (self._is_wildcard and name == _bracketed(address))


def _bracketed(host: str) -> str:
    """Returns a host as it is written in a URL."""
    host = host.lower().removeprefix("::ffff:") if "." in host else host.lower()
    return f"[{host}]" if ":" in host else host


def _foreign(what: str, found: str, place: str) -> Refusal:
    hint = f"; start it with --allow-host {place}" if _PLACE.fullmatch(place.lower()) else ""
    text = f"{what}: found {found!a:.200}, which is not this server{hint:.200}"
    return Refusal(http.HTTPStatus.FORBIDDEN, text)


def _cookie_name(port: int) -> str:
    return f"mvsim_view_{port}"  # with the port, since all ports of a host share their cookies


def _tokens_of_cookies(headers: Headers, port: int) -> list[str]:
    found = []
    for text in headers.get_all("Cookie"):
        try:
            cookies = SimpleCookie(text)
        except CookieError:
            continue
        if (cookie := cookies.get(_cookie_name(port))) is not None:
            found.append(cookie.value)
    return found
