"""The panel in the browser, and plots of values over time beside the scene. Callbacks of the panel only queue commands;
the thread that steps the world carries them out."""

from __future__ import annotations

import html
import math
import time
from collections import deque
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mvsim_gym._notices import printable
from mvsim_gym.view.moment import label_of, labelled
from mvsim_gym.view.stage import Stage

if TYPE_CHECKING:
    import viser

_MAX_SPEED = 10.0
_HOLD = 10.0  # Hz, repetition of a button that is held
_MARKS = {
    "hits": ("Lidar points", "Points that rays hit"),
    "trails": ("Trails", "Paths of vehicles so far"),
    "names": ("Names", "Names of vehicles, actors and blocks"),
    "forces": (
        "Forces",
        "Friction of each wheel; an arrow as long as the chassis' radius equals the wheel's load",
    ),
    "path": ("Path", "The shortest path to the goal, if the task measures it"),
}
"""Label and hint of each mark."""
_MAX_TEXT = 500  # characters of a message or of the line above the panel
_MAX_YAW = 3600.0  # deg
_KEYS = "Keys: **W** **S** faster and slower, **A** **D** to the left and right, **space** stop, **1**-**9** vehicle"


class Put(NamedTuple):
    """A command to place something; m and rad, in the world of the env."""

    name: str
    """name as in `read` and `write`, e.g. `vehicle:robot`"""
    x: float
    y: float
    yaw: float
    env: int


class Controls:
    """The panel of a view.

    Args:
        things: names of the things that can be placed.
        num_envs: number of envs, one of which is chosen.
        speed: simulated seconds for each second of wall time; 0: as fast as possible.
        resets: whether the panel has a button for a reset.
        ends: whether the panel has a button for the end.
        vehicles: names of the vehicles, one of which is chosen: it is followed, and its values are plotted.
        cameras: whether there are camera images.
        marks: marks besides those that every view has: "forces", "path".
    """

    def __init__(
        self,
        server: viser.ViserServer,
        stage: Stage,
        things: Sequence[str],
        *,
        num_envs: int = 1,
        speed: float = 1.0,
        resets: bool = True,
        ends: bool = False,
        vehicles: Sequence[str] = (),
        cameras: bool = False,
        marks: Sequence[str] = (),
    ) -> None:
        self._server, self._stage = server, stage
        self._vehicles = labelled(vehicles)
        self._vehicle: Any = None  # the element that chooses the vehicle, if there are several
        self.vehicle = vehicles[0] if vehicles else ""
        """Name of the chosen vehicle."""
        self.picked: str | None = None
        """Name of a vehicle that was chosen in a browser; None after it was selected."""
        self.paused, self.speed, self.chosen, self.pictures = False, speed, 0, True
        self.wishes: deque[str | Put] = deque(maxlen=1000)
        """Queue of commands: single characters are keys; the words are "step", "reset" and "end"; `Put` places."""
        self._text = server.gui.add_html("")  # escaped here; the library's Markdown would run scripts
        self.toggles: dict[str, Any] = {}
        """Checkboxes of marks by name; their `value` can be set."""
        with server.gui.add_folder("Run"):
            self._add_run(speed, resets, ends)
        with server.gui.add_folder("Show"):
            self._add_show(num_envs, cameras, marks)
        if things:
            with server.gui.add_folder("Put somewhere", expand_by_default=False):
                self._add_put(things)

    def choose(self, vehicle: str) -> None:
        """Chooses a vehicle, and shows it in the panel as the chosen one."""
        label = next((label for label, name in self._vehicles.items() if name == vehicle), None)
        if label is None or vehicle == self.vehicle:
            return
        self.vehicle = vehicle
        if self._vehicle is not None:
            self._vehicle.value = label

    def begin(self, speed: float) -> None:
        self._slider.min, self._slider.max = min(0.1, speed), max(_MAX_SPEED, speed)
        self.speed = self._slider.value = speed
        self.add_keys()

    def add_keys(self) -> None:
        """Adds the keys that drive, also as buttons. W, A, S and D no longer move the camera; arrows, Q and E do."""
        gui = self._server.gui
        with gui.add_folder("Drive"):
            gui.add_markdown(_KEYS)
            for label, key in (("Forward", "w"), ("Left", "a"), ("Right", "d"), ("Back", "s"), ("Stop", " ")):
                button = gui.add_button(label)
                button.on_hold(lambda _, key=key: self.wishes.append(key), callback_hz=_HOLD)
        hotkeys: dict[str, Any] = {"w": "W", "a": "A", "s": "S", "d": "D", " ": "space"}
        hotkeys |= {str(i): str(i) for i in range(1, 10)} | {key: key.upper() for key in "lcn"}
        for key, hotkey in hotkeys.items():
            command = gui.add_command(f"Key {hotkey}", hotkey=hotkey)
            command.on_trigger(lambda _, key=key: self.wishes.append(key))
        _keep_camera(self._server)

    def say(self, text: str) -> None:
        for client in self._server.get_clients().values():
            client.add_notification("mvsim_gym", printable(text)[:_MAX_TEXT], auto_close_seconds=6)

    def tell(self, text: str) -> None:
        shown = html.escape(printable(text)[:_MAX_TEXT])
        self._text.content = f'<div style="padding: 0.5em 0.75em; font-size: 0.875em">{shown}</div>'

    def _add_run(self, speed: float, resets: bool, ends: bool) -> None:
        gui = self._server.gui
        pause = gui.add_checkbox("Pause", False)
        pause.on_update(lambda _: setattr(self, "paused", pause.value))
        gui.add_button("Step").on_click(lambda _: self.wishes.append("step"))
        if resets:
            gui.add_button("Reset").on_click(lambda _: self.wishes.append("reset"))
        hint = "Simulated seconds for each second" + ("; 0: as fast as possible" if speed == 0 else "")
        slider = self._slider = gui.add_slider(
            "Speed", min=0 if speed == 0 else 0.1, max=_MAX_SPEED, step=0.1,
            initial_value=speed, hint=hint,
        )  # fmt: skip
        slider.on_update(lambda _: setattr(self, "speed", slider.value))
        if ends:
            gui.add_button("End").on_click(lambda _: self.wishes.append("end"))

    def _add_show(self, num_envs: int, cameras: bool, more: Sequence[str]) -> None:
        gui, stage = self._server.gui, self._stage
        if num_envs > 1:
            env = gui.add_slider("Env", min=0, max=num_envs - 1, step=1, initial_value=0)
            env.on_update(lambda _: setattr(self, "chosen", int(env.value)))
            side_by_side = gui.add_checkbox("All envs", True)
            side_by_side.on_update(lambda _: self._show_all(side_by_side.value))
        if len(self._vehicles) > 1:
            self._vehicle = gui.add_dropdown(
                "Vehicle", tuple(self._vehicles), hint="The vehicle that is followed, plotted and driven"
            )
            self._vehicle.on_update(self._pick)
        follow = gui.add_checkbox("Follow", False)
        follow.on_update(lambda _: self._follow(follow.value))
        marks = stage.marks.wanted
        for name in ("hits", "trails", "names", *more):
            label, hint = _MARKS[name]
            box = gui.add_checkbox(label, marks[name], hint=hint)
            box.on_update(lambda _, box=box, name=name: marks.__setitem__(name, box.value))
            self.toggles[name] = box
        if cameras:
            seen = gui.add_checkbox("Cameras and 3D lidars", True)
            seen.on_update(lambda _: setattr(self, "pictures", seen.value))

    def _pick(self, event: Any) -> None:
        if event.client is not None:  # otherwise this process set the value
            self.vehicle = self.picked = self._vehicles[event.target.value]

    def _show_all(self, on: bool) -> None:
        self._stage.all_envs = on
        if not self._stage.follows:
            self._stage.look_at_all()

    def _follow(self, on: bool) -> None:
        self._stage.follows = on
        if on:
            self._stage.look_closely()
        else:
            self._stage.look_at_all()

    def _add_put(self, things: Sequence[str]) -> None:
        gui = self._server.gui
        names = labelled(things)
        thing = gui.add_dropdown("Thing", tuple(names))
        yaw = gui.add_number("Yaw (deg)", 0.0, min=-_MAX_YAW, max=_MAX_YAW, step=5.0)
        armed = gui.add_checkbox("At the next click", False)

        @self._server.scene.on_click()
        def _(event: viser.SceneClickEvent) -> None:
            if not armed.value or event.ray_origin is None or event.ray_direction is None:
                return
            armed.value = False
            origin, direction = np.array(event.ray_origin), np.array(event.ray_direction)
            place = self._stage.ground_at(origin, direction, self.chosen)
            if place is not None:
                self.wishes.append(Put(names[thing.value], *place, math.radians(yaw.value), self.chosen))


def _keep_camera(server: viser.ViserServer) -> None:
    """Keeps W, A, S and D from the camera, since they drive.

    The camera's listener is on the document and would run after those of the commands, which are on its root element.
    """
    from viser._messages import RunJavascriptMessage

    source = """
        if (!window.mvsimKeys) {
          window.mvsimKeys = true;
          document.documentElement.addEventListener("keydown", (event) => {
            if (["KeyW", "KeyA", "KeyS", "KeyD"].includes(event.code)) event.stopPropagation();
          });
        }"""
    server._websock_server.queue_message(RunJavascriptMessage(source=source))  # noqa: SLF001 (viser has no public way)


_POINTS = 300
_PERIOD = 0.2  # s of wall time between points
LINES = 8
"""Most lines of a plot."""
_COLORS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f")


class Plots:
    """Plots of values. The first word of a name is the plot: "reward mean" and "reward env" are lines of one plot."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._gui = server.gui
        self._folder = server.gui.add_folder("Plots")
        self._times: dict[str, deque[float]] = {}
        self._lines: dict[str, dict[str, deque[float]]] = {}
        self._shown: dict[str, Any] = {}
        self._due = 0.0
        self._whose: Hashable = None

    def hurry(self) -> None:
        """Lets `show` add the next point at once."""
        self._due = 0.0

    def show(self, now: float, values: Mapping[str, float], whose: Hashable = None) -> None:
        """Adds a point to each line, at simulated time `now`, if it is time for one.

        Plots without values are removed. A plot restarts if its lines change or its time goes back. All plots restart
        if `whose` changes.
        """
        if time.monotonic() < self._due and whose == self._whose:
            return
        if any(times[-1] == now for times in self._times.values()) and whose == self._whose:
            return  # this time has been shown
        if whose != self._whose:
            for title in list(self._lines):
                self._forget(title)
        self._whose = whose
        self._due = time.monotonic() + _PERIOD
        grouped: dict[str, dict[str, float]] = {}
        for name, value in values.items():
            group = grouped.setdefault(name.partition(" ")[0], {})
            if len(group) < LINES:
                group[name] = value
        for title in self._lines.keys() - grouped.keys():
            self._forget(title)
        for title, group in grouped.items():
            if title in self._lines and (
                self._lines[title].keys() != group.keys() or now < self._times[title][-1]
            ):
                self._forget(title)
            self._extend(title, now, group)

    def _extend(self, title: str, now: float, group: Mapping[str, float]) -> None:
        times = self._times.setdefault(title, deque(maxlen=_POINTS))
        lines = self._lines.setdefault(title, {name: deque(maxlen=_POINTS) for name in group})
        times.append(now)
        for name, value in group.items():
            lines[name].append(value)
        data = tuple(np.array(row) for row in (times, *lines.values()))
        if title in self._shown:
            self._shown[title].data = data
            return
        series: list[Any] = [{"label": "time, s"}]
        series += [
            {"label": label_of(name), "stroke": color, "width": 2}
            for name, color in zip(lines, _COLORS, strict=False)
        ]
        with self._folder:
            self._shown[title] = self._gui.add_uplot(
                data, tuple(series), title=label_of(title), scales={"x": {"time": False}}, height=170
            )

    def _forget(self, title: str) -> None:
        del self._times[title], self._lines[title]
        self._shown.pop(title).remove()
