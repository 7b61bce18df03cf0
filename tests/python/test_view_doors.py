"""Access to the view, without a browser: connections, permissions for controls, and forged messages."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from xml.sax.saxutils import quoteattr

import pytest
from browser import wait_for
from conftest import DATA

import mvsim_gym

pytest.importorskip("viser", reason="needs the extra 'view'")
import viser
from view_pages import CAMERA, CLICK, page, press_and_wait
from websockets.exceptions import InvalidStatus
from websockets.http11 import Request
from websockets.sync.client import connect

from mvsim_gym.tools.cli import main
from mvsim_gym.view.doors import Doors, Gate

YARD = str(DATA / "yard.world.xml")
ENV = "mvsim/NavArena-v0"


def request(*headers: tuple[str, str], path: str = "/") -> Request:
    from websockets import Headers

    return Request(
        path, Headers([("Host", "127.0.0.1:8080"), *headers] if not _has_host(headers) else headers)
    )


def _has_host(headers: tuple[tuple[str, str], ...]) -> bool:
    return any(name == "Host" for name, _ in headers)


def let_in(gate: Gate, *headers: tuple[str, str], path: str = "/", address: str = "127.0.0.1") -> bool:
    return gate.refusal(request(*headers, path=path), (address, 8080)) is None


OWN = ["localhost:8080", "127.0.0.1:8080", "[::1]:8080", "LOCALHOST:8080"]
FOREIGN = [
    "evil.example", "evil.example:8080", "localhost.evil.example:8080", "127.0.0.1.evil.example:8080", "127.0.0.2:8080",
    "localhost:8081", "localhost", "", "localhost:", "localhost:8080:8080", "user@localhost:8080", "localhost:8080/",
    "0.0.0.0:8080", "[::2]:8080", "localhost.:8080", "localhost:99999", "xn--lcalhost-b2a:8080",
]  # fmt: skip


def test_hosts_and_origins_of_this_server_are_let_in_and_no_other() -> None:
    gate = Gate("127.0.0.1", Doors())
    for place in OWN:
        assert let_in(gate, ("Host", place)) and let_in(gate, ("Origin", f"http://{place}"))
        assert let_in(gate, ("Host", place), ("Origin", f"https://{place}"))
    for place in FOREIGN:
        assert not let_in(gate, ("Host", place)), place
        for scheme in ("http://", "https://"):
            assert not let_in(gate, ("Origin", scheme + place)), place
    for origin in (
        "null",
        "file://",
        "localhost:8080",
        "ftp://localhost:8080",
        "chrome-extension://localhost:8080",
    ):
        assert not let_in(gate, ("Origin", origin)), origin
    assert not let_in(gate, ("Host", "localhost:8080"), ("Host", "localhost:8080"))
    assert not let_in(gate, ("Origin", "http://localhost:8080"), ("Origin", "http://localhost:8080"))


def test_further_hosts_are_let_in_by_name() -> None:
    gate = Gate("127.0.0.1", Doors(allow_hosts=("Sim.example", "localhost:9000")))
    for place in ("sim.example", "SIM.example:8080", "localhost:9000"):
        assert let_in(gate, ("Host", place), ("Origin", f"https://{place}"))
    for place in ("sim.example:81", "a.sim.example", "localhost:9001"):
        assert not let_in(gate, ("Host", place)), place
    for wrong in ("http://sim.example", "a b", "", "sim.example/", "x@y"):
        with pytest.raises(ValueError, match="NAME:PORT"):
            Doors(allow_hosts=(wrong,))
    everywhere = Gate("0.0.0.0", Doors())
    assert let_in(everywhere, ("Host", "192.0.2.7:8080"), address="192.0.2.7")
    assert not let_in(everywhere, ("Host", "192.0.2.8:8080"), address="192.0.2.7")
    assert let_in(Gate("::", Doors()), ("Host", "192.0.2.7:8080"), address="::ffff:192.0.2.7")
    assert let_in(Gate("2001:db8::1", Doors()), ("Host", "[2001:db8::1]:8080"))


def test_pages_are_not_sent_to_other_servers() -> None:
    gate = Gate("127.0.0.1", Doors())
    assert let_in(gate, path="/?token=x&darkMode")
    for query in ("websocket=ws://evil.example", "playbackPath=http://evil.example/x", "%77ebsocket=x", "a"):
        assert not let_in(gate, path=f"/?{query}"), query


def test_who_has_the_token_may_press() -> None:
    gate = Gate("127.0.0.1", Doors())
    asked = request(path=f"/{gate.query()}")
    assert len(gate.query()) > 30 and gate.query() != Gate("127.0.0.1", Doors()).query()
    assert gate.may_press(asked, 8080)
    cookie = gate.cookie(asked, 8080)
    assert cookie is not None and "HttpOnly" in cookie and "SameSite=Strict" in cookie
    kept = ("Cookie", "other=1; " + cookie.partition(";")[0])
    assert gate.may_press(request(kept), 8080) and not gate.may_press(request(kept), 8081)
    token = gate.query().partition("=")[2]
    for path in (
        "/",
        "/?token=",
        f"/?token={token[:-1]}",
        f"/?token={token}x",
        "/?token=%ff",
        "/?token=\udcff",
    ):
        assert not gate.may_press(request(path=path), 8080), path
        assert gate.cookie(request(path=path), 8080) is None
    for text in ("", "mvsim_view_8080=", "mvsim_view_8080=x", "[]=;;="):
        assert not gate.may_press(request(("Cookie", text)), 8080)
    without = Gate("127.0.0.1", Doors(token=False))
    assert without.query() == "" and without.may_press(request(), 8080)


def test_a_foreign_page_gets_neither_files_nor_a_connection() -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with mvsim_gym.World(YARD).view(port=0) as view:
        with opener.open(view.url, timeout=10) as answer:
            assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
            assert answer.headers["Referrer-Policy"] == "no-referrer"
        for headers in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}):
            with pytest.raises(urllib.error.HTTPError, match="403") as refused:
                opener.open(urllib.request.Request(view.url, headers=headers), timeout=10)
            assert b"--allow-host evil.example" in refused.value.read()
        for path in ("/%00", "/" + "x" * 3000, "/..%2f..%2fetc/passwd", "/?websocket=ws://evil.example"):
            with pytest.raises(urllib.error.HTTPError, match=r"40[04]"):
                opener.open(f"http://127.0.0.1:{urlsplit(view.url).port}{path}", timeout=10)
        foreign: list[dict[str, Any]] = [
            {"origin": "https://evil.example"},
            {"origin": "null"},
            {"origin": f"http://evil.example:{urlsplit(view.url).port}"},
        ]
        for options in foreign:
            with pytest.raises(InvalidStatus, match="403"), page(view, **options):
                pass
        with pytest.raises(InvalidStatus, match="400"):
            connect(view.url.replace("http", "ws", 1), subprotocols=["viser-v0"], proxy=None)  # type: ignore[list-item]
        with page(view, origin=view.url.partition("/?")[0]):  # its own
            assert view.is_watched


def test_no_page_opens_a_tunnel(monkeypatch: pytest.MonkeyPatch) -> None:
    import viser._viser

    asked: list[Any] = []
    monkeypatch.setattr(viser._viser, "ViserTunnel", lambda *given: asked.append(given))
    monkeypatch.setattr(viser.ViserServer, "request_share_url", lambda *given: asked.append(given))
    with mvsim_gym.World(YARD).view(port=0) as view, page(view) as seen:
        seen.send(type="ShareUrlRequest")
        seen.send(type="ShareUrlDisconnect")
        press_and_wait(view, seen)
        assert asked == []


def test_a_page_without_the_token_only_watches() -> None:
    world = mvsim_gym.World(YARD)
    with world.view(port=0) as view, page(view) as owner, page(view, token=False) as watcher:
        assert len(view._server.get_clients()) == 2, "it is shown all"
        for label in watcher.ids:
            for value in (True, 5, 5.0):
                watcher.update(label, value)
        watcher.send(**CLICK)
        for command in view._server.gui._command_handle_from_uuid:
            watcher.send(type="CommandTriggerMessage", uuid=command)
        watcher.send(**CAMERA)
        time.sleep(0.2)
        press_and_wait(view, owner)
        assert view.controls.speed == 1.0 and not view.controls.paused
        assert list(view.controls.wishes) == ["step"]
    with world.view(port=0, token=False) as view, page(view) as anybody:
        assert "token" not in view.url
        press_and_wait(view, anybody)


def test_names_are_shown_as_text(tmp_path: Path) -> None:
    name = "<b>&amp;\x85\u202e" + "x" * 150
    (tmp_path / "w.world.xml").write_text(
        f"<mvsim_world><vehicle name={quoteattr(name)}><init_pose>0 0 0</init_pose>"
        '<dynamics class="differential"/></vehicle></mvsim_world>'
    )
    world = mvsim_gym.World(tmp_path / "w.world.xml")
    with world.view(port=0) as view:
        view.text = f"12 s | {name}"
        view._show(view.moment())
        shown = view.controls._text.content
        assert "<b>" not in shown and "&lt;b&gt;&amp;amp;\\x85\\u202e" in shown
        (options,) = [
            h.options
            for h in view._server.gui._gui_input_handle_from_uuid.values()
            if isinstance(h, viser.GuiDropdownHandle)
        ]
        assert len(options[0]) <= 80 and "\u202e" not in options[0]
        said: list[str] = []
        view.controls.say = said.append  # type: ignore[method-assign]
        with page(view) as seen:
            seen.update("At the next click", True)
            seen.send(**{**CLICK, "ray_origin": (1.0, 2.0, 5.0)})
            wait_for(lambda: view.controls.wishes, 20)
        assert list(view.wishes()) == [] and said == []
        assert world.vehicles[name].pose.x == pytest.approx(1)


def test_options_of_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["view", YARD], ["view", ENV], ["launch", YARD, "--no-hub"]):
        port = "--view-port" if command[0] == "launch" else "--port"
        assert main([*command, port, "0", "--allow-host", "http://x"]) == 1
        assert "found 'http://x', expected NAME or NAME:PORT" in capsys.readouterr().err
