"""Forged messages of pages: nothing that they hold reaches the panel unchecked, or ends what is looked at."""

from __future__ import annotations

import io
import math
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from browser import wait_for
from conftest import DATA

import mvsim_gym

pytest.importorskip("viser", reason="needs the extra 'view'")
import msgspec
import viser
from view_pages import CAMERA, CLICK, Page, page, press_and_wait

from mvsim_gym.tools import launch
from mvsim_gym.view.arrivals import Camera, decoded
from mvsim_gym.view.view import View

YARD = str(DATA / "yard.world.xml")
ENV = "mvsim/NavArena-v0"
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


def stepped(envs: Any, view: View, attack: Callable[[Page], None]) -> list[str]:
    """Returns the outcome of stepping on another thread while a page does something."""
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
