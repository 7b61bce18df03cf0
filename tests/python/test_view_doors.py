"""The doors of the view, without a browser: who is let in, who may press, what of a forged message gets through."""

from __future__ import annotations

import io
import math
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from xml.sax.saxutils import quoteattr

import numpy as np
import pytest
from browser import wait_for
from conftest import DATA

import mvsim_gym

pytest.importorskip("viser", reason="needs the extra 'view'")
import msgspec
import viser
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.http11 import Request
from websockets.sync.client import ClientConnection, connect

from mvsim_gym.tools import launch
from mvsim_gym.tools.cli import main
from mvsim_gym.view.arrivals import Camera, decoded
from mvsim_gym.view.doors import Doors, Gate
from mvsim_gym.view.view import View

YARD = str(DATA / "yard.world.xml")
ENV = "mvsim/NavArena-v0"
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


def press_and_wait(view: View, seen: Page) -> None:
    """All that a page has sent before has been taken."""
    view.controls.wishes.clear()
    seen.update("Step", True)
    wait_for(lambda: "step" in view.controls.wishes, 20)


FORGED: list[Any] = [
    999, -5, 0, 1e-300, 1e300, math.nan, math.inf, -math.inf, 2**63, "x", "x" * 10_000, True, None, [], [1, 2], {},
    {"value": 1}, b"bytes", "</script>", "\x00\x1b",
]  # fmt: skip


def test_forged_values_of_the_panel_are_clamped_or_dropped() -> None:
    envs = mvsim_gym.VectorEnv(ENV, num_envs=4)
    envs.reset(seed=0)
    with envs.view(port=0) as view, page(view) as seen:
        controls = view.controls
        view.after_step()
        for label in seen.ids:
            if label in ("Step", "Pause"):
                continue
            for value in FORGED:
                seen.update(label, value, max=1e9, options=["x"], label="<b>", visible=False)
        press_and_wait(view, seen)
        for handle in view._server.gui._gui_input_handle_from_uuid.values():
            handle_label = handle._impl.props.label  # type: ignore[attr-defined]
            assert handle_label in seen.ids and handle.visible
            if isinstance(handle, viser.GuiSliderHandle):
                assert type(handle.value) is type(handle._impl.props.max) or isinstance(handle.value, float)  # type: ignore[attr-defined]
                assert handle.min <= handle.value <= handle.max
            elif isinstance(handle, viser.GuiDropdownHandle):
                assert handle.value in handle.options and "x" not in handle.options
            elif isinstance(handle, viser.GuiTextHandle):
                assert len(handle.value) <= 200 and "\x1b" not in handle.value
            elif isinstance(handle, viser.GuiCheckboxHandle):
                assert isinstance(handle.value, bool)
        assert 0 <= controls.chosen < 4 and 0 <= controls.speed <= 10
        assert view._server.gui._current_file_upload_states == {}


def test_forged_messages_do_nothing() -> None:
    """Cameras, clicks, uploads, bytes that are no message, kinds that a view does not need."""
    world = mvsim_gym.World(YARD)
    begun = world.blocks["box"].pose
    with world.view(port=0) as view, page(view) as seen:
        seen.update("At the next click", True)
        seen.update("Thing", "vehicle:nope")
        for ray in (
            (math.nan,) * 3,
            (0.0, 0.0, 0.0),
            (1e300, 0.0, -1.0),
            ("x", 1, 2),
            (1.0,),
            None,
            (1.0, 0.0, -1e-9),
        ):
            seen.send(**{**CLICK, "ray_direction": ray})
            seen.send(**{**CLICK, "ray_origin": ray})
        seen.send(**{**CLICK, "event_type": "rect-select"})
        seen.send(**{**CLICK, "modifier": "x"})
        seen.send(**{**CLICK, "screen_pos": ((0.0, 0.0),) * 5})
        for key in CAMERA.keys() - {"type"}:
            for value in (math.nan, (math.inf,) * 4, (0.0,) * 4, "x", None, 10**15, (0.0,) * 3):
                seen.send(**{**CAMERA, key: value})
        upload = {
            "source_component_uuid": seen.ids["Speed"],
            "transfer_uuid": "t",
            "filename": "x",
            "mime_type": "y",
        }
        seen.send(type="FileTransferStartUpload", part_count=0, size_bytes=0, **upload)
        seen.send(type="FileTransferPart", part_index=0, content=b"x", **upload)
        for kind in (
            "SetPositionMessage",
            "RemoveSceneNodeMessage",
            "RunJavascriptMessage",
            "GuiFormDirtyMessage",
            "",
        ):
            seen.send(type=kind, uuid=seen.ids["Speed"], name="/world", source="x")
        seen.send(uuid="x")
        seen.send(
            type="GuiButtonHoldMessage",
            uuid=seen.ids["Step"],
            frequency="x",
        )
        for data in (
            b"",
            b"\xc1",
            b"\x81" * 5000,
            b"\xdf\xff\xff\xff\xff",
            b"\x91" * 10_000,
            "text",
            b"\xff" * 100,
        ):
            seen.raw(data)
        press_and_wait(view, seen)
        assert list(view.wishes()) == ["step"]
        assert world.blocks["box"].pose == begun
        (client,) = view._server.get_clients().values()
        assert np.isfinite(client.camera.position).all() and np.isfinite(client.camera.fov)
        world.step(0.1)
        assert not view.closed and view._feed.failure is None


def test_messages_are_what_they_say_or_nothing() -> None:
    good = decoded(msgspec.msgpack.encode({**CAMERA, "fov": 99, "far": 1e99, "near": -1, "image_width": -3}))
    assert isinstance(good, Camera) and (good.fov, good.far, good.image_width) == (math.pi, 1e9, 1)
    rng = np.random.default_rng(3)
    whole = msgspec.msgpack.encode(CLICK)
    for _ in range(3000):
        data = bytearray(whole)
        for at in rng.integers(0, len(data), 3):
            data[at] = rng.integers(0, 256)
        decoded(bytes(data[: rng.integers(0, len(data) + 1)]))


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


def stepped(envs: Any, view: View, attack: Callable[[Page], None]) -> list[str]:
    """What comes of stepping on another thread while a page does something."""
    said: list[str] = []

    def train() -> None:
        try:
            for _ in range(300):
                envs.step(np.zeros((4, 2), np.float32))
                time.sleep(0.001)
            said.append("went on")
        except Exception as error:
            said.append(repr(error))

    thread = threading.Thread(target=train, daemon=True)
    thread.start()
    with page(view) as seen:
        attack(seen)
        thread.join(20)
    return said


@pytest.mark.parametrize(
    ("label", "value"), [("Env", 999), ("Env", -1), ("Speed", 1e-300), ("Speed", 1e-3), ("Speed", math.nan)]
)
def test_training_goes_on(label: str, value: float) -> None:
    envs = mvsim_gym.VectorEnv(ENV, num_envs=4)
    envs.reset(seed=0)
    with envs.view(port=0) as view:
        assert stepped(envs, view, lambda seen: seen.update(label, value)) == ["went on"]
        assert view._feed.failure is None
    envs.close()


@pytest.mark.parametrize("value", [0, math.nan, -1, 1e300])
def test_a_world_goes_on(value: float) -> None:
    world = mvsim_gym.World(YARD)
    with world.view(port=0) as view:
        view.controls.begin(1.0)
        ends: list[int] = []
        with page(view) as seen:
            seen.update("Speed", value)
            press_and_wait(view, seen)
            threading.Timer(0.3, lambda: ends.append(1)).start()
            launch._run(
                world, 1.0, math.inf, None, [], lambda: bool(ends), lambda: "", view, None, io.StringIO()
            )  # fmt: skip
        assert 0.1 <= view.controls.speed <= 10 and world.time > 0


def test_what_fails_in_a_view_ends_the_view_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    world = mvsim_gym.World(YARD)
    envs = mvsim_gym.VectorEnv(ENV, num_envs=2)
    envs.reset(seed=0)
    for thing, step in ((world, world.step), (envs, lambda: envs.step(np.zeros((2, 2), np.float32)))):
        with thing.view(port=0) as view, page(view):  # type: ignore[attr-defined]
            monkeypatch.setattr(view, "moment", lambda **_: 1 / 0)
            wait_for(lambda step=step, view=view: (step(), view.closed)[1], 20)
            assert isinstance(view._feed.failure, ZeroDivisionError)
    envs.close()


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
