"""Functions of callers that move bodies: `body_policies={"people": fn}`, called once a step, before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mvsim_gym import _core
from mvsim_gym._control import numbers
from mvsim_gym._keywords import shortened
from mvsim_gym._term_view import Array, Call, TermView
from mvsim_gym.errors import TermError

Function = Callable[["BodiesView"], Any]


class BodiesView(TermView):
    """What a function that moves bodies sees: all of a `TermView`, with a row a world (of several agents the vehicle is
    the first's), and the bodies of its element, in their order."""

    __slots__ = ("_pattern",)

    def __init__(self, call: Call, names: list[str]) -> None:
        super().__init__(call)
        self._pattern = names

    @property
    def body_poses(self) -> Array:
        """(n, b, 3): x, y, yaw in the world."""
        return self._of_bodies("pose")

    @property
    def body_velocities(self) -> Array:
        """(n, b, 2): vx, vy in the world."""
        return self._of_bodies("velocity")

    @property
    def body_goals(self) -> Array:
        """(n, b, 2): x, y in the world; drawn anew when one is reached."""
        return self._of_bodies("goal")

    @property
    def body_speeds(self) -> Array:
        """(n, b): m/s that each likes to go at."""
        return self._of_bodies("speed")

    @property
    def body_radii(self) -> Array:
        """(n, b): m."""
        return self._of_bodies("radius")

    def _of_bodies(self, quantity: str) -> Array:
        def stacked() -> Array:
            arrays = [self.read(f"body:{name}/{quantity}") for name in self._pattern]
            return np.stack(arrays, axis=1)

        return self._call.kept(f"bodies {quantity}", stacked)


class Bodies:
    """The functions of one environment, or of many, by the name of the element whose bodies they move."""

    def __init__(self, functions: Mapping[str, Function], batch: _core.Batch) -> None:
        self._functions = dict(functions)
        self._names: dict[str, list[str]] = {name: [] for name in functions}
        policies = {group: policy for _, group, policy in batch.bodies}
        for group in functions:
            if policies.get(group) != "python":
                found = f"has the policy {policies[group]}" if group in policies else "moves nothing"
                known = ", ".join(g for g, policy in policies.items() if policy == "python") or "none"
                raise ValueError(
                    f"body_policies['{shortened(group)}']: '{shortened(group)}' {found}, expected an element with"
                    f' policy="python": {known}'
                )
        for name, group, _ in batch.bodies:
            if group in self._names:
                self._names[group].append(name)
        self.native: dict[str, Array] = {}  # no observations to see
        self.attach(batch)

    def attach(self, batch: _core.Batch) -> None:
        """Works on this batch from now on."""
        self.batch: _core.Batch | None = batch
        self.num_rows = batch.num_envs
        self.rows = list(range(batch.num_envs))
        self.vehicles = [batch.vehicle_name]

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "batch"}

    def read(self, name: str) -> Array:
        """What `VectorEnv.read` knows by name, a row a world."""
        assert self.batch is not None
        return self.batch.read(self.rows, name)

    def before_step(self) -> None:
        """Asks every function, and tells the bodies of episodes that go on."""
        batch = self.batch
        assert batch is not None
        running = [row for row in self.rows if not batch.ended(row)]
        for group, function in self._functions.items():
            names = self._names[group]
            call = Call(self)  # type: ignore[arg-type]
            call.begin(group)
            try:
                velocities = self._velocities(
                    group, function, BodiesView(call, names), (len(self.rows), len(names), 2)
                )
            finally:
                call.end()
            for k, name in enumerate(names):
                batch.write(
                    running, f"body:{name}/velocity", np.ascontiguousarray(velocities[running, k]).ravel()
                )

    def _velocities(self, group: str, function: Function, view: BodiesView, shape: tuple[int, ...]) -> Array:
        try:
            velocities = numbers("its value", function(view))
            if velocities.shape != shape:
                raise ValueError(f"found shape {velocities.shape}, expected {shape}")
            if not np.isfinite(velocities).all():
                raise ValueError("found a velocity that is not finite")
        except Exception as error:
            raise TermError(f"body policy '{group}': {type(error).__name__}: {error}") from error
        return velocities


def bodies_of(options: Mapping[str, Any], batch: _core.Batch) -> Bodies | None:
    """Of a constructor's options, if there are some.

    Raises:
        ValueError: a function for what has another policy, or none for what asks for one.
    """
    functions = options.get("body_policies") or {}
    for _, group, policy in batch.bodies:
        if policy == "python" and group not in functions:
            raise ValueError(
                f"body_policies: '{group}' has policy=\"python\", expected a function for it: {{'{group}': function}}"
            )
    return Bodies(functions, batch) if functions else None
