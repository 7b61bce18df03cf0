"""Views of environments during training or evaluation."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym._outputs import array_of, on_host
from mvsim_gym.parts import vehicles_of
from mvsim_gym.view.controls import LINES, Put
from mvsim_gym.view.doors import Doors
from mvsim_gym.view.marks import forces_of
from mvsim_gym.view.moment import Group, Moment, labelled
from mvsim_gym.view.view import PICTURE_PERIOD, View

_NAP = 0.01  # s of wall time between checks during a pause
_LONG_NAP = 0.1  # s of wall time between checks while the next step is far off
_NO_VALUE = "(none)"


class EnvsView(View):
    """The result of `VectorEnv.view`. It only accesses the envs in `after_step`, on the thread that steps them. There
    it copies poses 30 times a second and carries out commands.

    Args:
        commanded: for `mvsim-gym view`: it runs in real time, with or without a browser, and can be reset.
    """

    def __init__(
        self,
        batch: _core.Batch,
        host: str,
        port: int,
        doors: Doors | None = None,
        *,
        commanded: bool = False,
    ) -> None:
        names = batch.names(0)
        things = [name.removesuffix("/pose") for name in names if name.endswith("/pose")]
        vehicles = [vehicle.name for vehicle in batch.model(0).vehicles]
        super().__init__(
            batch.model(0),
            things,
            host,
            port,
            doors=doors,
            num_envs=batch.num_envs,
            speed=1.0 if commanded else 0.0,
            resets=commanded,
            ends=commanded,
            vehicles=sorted(vehicles, key=lambda name: name not in batch.agent_names),  # agents first
            marks=("forces", "path"),
        )
        self._batch, self._commanded = batch, commanded
        if not commanded:  # training is faster than real time, so marks can be updated less often
            self._marks_period = 0.2
        self._next_step = 0.0
        self._steps, self._single = 0, False
        self._add_values(names)
        self.wishes: list[str] = []
        """Commands "reset" and "end" if the view is commanded. The caller removes those that it has carried out."""

    def after_step(self) -> None:
        """Copies the poses if it is time and a browser is connected, and carries out commands, including a pause."""
        if self.closed:
            return
        try:
            self._after_step()
        except Exception as error:
            self._fail(error)

    def _after_step(self) -> None:
        self._steps += 1
        self._stepper = threading.get_ident()
        self._hand_over()
        self._take_commands()
        while self.controls.paused and self.is_watched and not self.wishes and not self._take_single_step():
            self._hand_over()
            time.sleep(_NAP)
            self._take_commands()
        self._keep_pace()

    def _keep_pace(self) -> None:
        """Waits until the next step is due. Returns early if the speed changes or no browser is left."""
        speed = self.controls.speed
        if not (speed > 0 and (self._commanded or self.is_watched)):
            return
        now = time.monotonic()
        self._next_step = max(self._next_step + self._batch.control_period / speed, now)
        while (left := self._next_step - time.monotonic()) > 0:
            time.sleep(min(left, _LONG_NAP))
            if left > _LONG_NAP and self._must_end_wait(speed):
                self._next_step = 0.0
                break

    def _must_end_wait(self, speed: float) -> bool:
        """Whether the next step should be made before it is due at this speed."""
        self._take_commands()
        has_gone = not (self._commanded or self.is_watched)
        return has_gone or bool(self.wishes) or self.closed or self.controls.speed != speed

    def moment(self, *, marks: bool = True, pictures: bool = True) -> Moment:
        """Returns the present state of the envs, with or without marks and images."""
        batch, chosen = self._batch, self.controls.chosen
        episode_time = float(batch.read([chosen], "time")[0])
        rewards = self._by_env(batch.rewards)
        values = {"reward mean": float(rewards.mean()), "reward env": float(rewards[chosen].mean())}
        if batch.num_agents > 1 and (vehicle := self.controls.vehicle) in batch.agent_names:
            values["reward agent"] = float(rewards[chosen, batch.agent_names.index(vehicle)])
        for name in filter(None, (self._labels.get(self._plotted.value, ""), self._more.value)):
            values |= self._values_of(name, chosen)
        details: dict[str, Any] = self._marks(chosen) if marks else {}
        return Moment(
            episode_time,
            [Group(*group) for group in _core.batch_poses(batch)],
            chosen,
            self.controls.vehicle,
            pictures=self._observed(chosen) if pictures else {},
            values=values,
            text=f"env {chosen} of {batch.num_envs}, {episode_time:.2f} s of its episode, {self._steps} steps seen",
            has_marks=marks,
            **details,
        )

    def _marks(self, chosen: int) -> dict[str, Any]:
        batch = self._batch
        marks = _core.env_marks(batch, chosen)
        forces = np.zeros((0, 2, 3))
        if self._shows("forces"):  # from a copy of the env's world
            simulation = _core.env_simulation(batch, chosen)
            forces = forces_of(vehicles_of(batch.model(chosen), simulation).values())
        return {
            "goals": _core.env_goals(batch),
            "hits": marks["hits"],
            "joints": marks["joints"],
            "contacts": _core.env_contacts(batch, chosen),
            "forces": forces,
            "path": self._path_of(chosen) if self._shows("path") else np.zeros((0, 3)),
        }

    def _path_of(self, chosen: int) -> npt.NDArray[np.float64]:
        """Returns the points of the path, (n, 3) m, at the height of the first agent."""
        points = _core.env_path(self._batch, chosen)
        height = _core.agent_place(self._batch, chosen)[2]
        return np.column_stack([points, np.full(len(points), height)])

    def _observed(self, chosen: int) -> dict[str, npt.NDArray[np.uint8]]:
        """Returns observations of an env that are images, if it is time for them."""
        if time.monotonic() < self._pictures_due:
            return {}
        self._pictures_due = time.monotonic() + PICTURE_PERIOD
        batch, found = self._batch, {}
        for i, spec in enumerate(batch.observations):
            if spec.dtype == np.uint8 and len(spec.shape) >= 3 and spec.shape[-1] == 3:
                pixels = self._by_env(on_host(array_of(batch, i)))[chosen]
                for name, seen in zip(batch.agent_names, pixels, strict=True):
                    frames = seen.reshape(-1, *spec.shape[-3:])
                    key = spec.key if batch.num_agents == 1 else f"{name} {spec.key}"
                    found[key] = frames[-1].copy()  # the latest image of a history
        return found

    def _by_env(self, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Reshapes an array with a row for each agent to (envs, agents of an env, ...)."""
        return rows.reshape(self._batch.num_envs, self._batch.num_agents, *rows.shape[1:])

    def _hand_over(self) -> None:
        if self._wants_moment():
            self._feed.put(self.moment(marks=self._wants_marks()))
        else:
            self._offer_spare(lambda: self.moment(marks=False, pictures=False))

    def _take_single_step(self) -> bool:
        """Whether a single step was requested; resets the request."""
        asked, self._single = self._single, False
        return asked

    def _take_commands(self) -> None:
        while self.controls.wishes:
            wish = self.controls.wishes.popleft()
            if isinstance(wish, Put):
                self._put(wish)
            elif wish == "step":
                self._single = True
            else:
                self.wishes.append(wish)

    def _put(self, wish: Put) -> None:
        try:
            self._batch.write([wish.env], f"{wish.name}/pose", np.array([[wish.x, wish.y, wish.yaw]]))
        except (ValueError, KeyError, TypeError) as error:
            self.controls.say(str(error))

    def _add_values(self, names: list[str]) -> None:
        gui = self._server.gui
        with gui.add_folder("Values of the env", expand_by_default=False):
            self._labels = {_NO_VALUE: "", **labelled(names)}
            self._plotted: Any = gui.add_dropdown("Plot", tuple(self._labels))
            self._more = gui.add_text(
                "Also", "", hint="Any name that read() takes, such as the path of a parameter"
            )

    def _values_of(self, name: str, env: int) -> dict[str, float]:
        """Returns values by the name of a line: `NAME`, or `NAME 0`, `NAME 1`, ..."""
        try:
            value = self._batch.read([env], name)[0]
        except (ValueError, KeyError, TypeError):
            return {}  # an incomplete name during typing, or one that this env lacks
        flat = np.atleast_1d(value).ravel()[:LINES]
        return {name if len(flat) == 1 else f"{name} {i}": float(v) for i, v in enumerate(flat)}
