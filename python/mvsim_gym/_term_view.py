"""The view that a term in Python is given: arrays of all envs, valid during the call, and random numbers of each
env."""

from __future__ import annotations

import difflib
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym._checks import shortened

if TYPE_CHECKING:
    from mvsim_gym._terms import Terms

Array = npt.NDArray[Any]


class Call:
    """State of one call: the terms until the call ends, and the arrays that the function has asked for so far."""

    __slots__ = ("_cache", "_terms", "draws", "name")

    def __init__(self, terms: Terms) -> None:
        self._terms: Terms | None = terms
        self._cache: dict[str, Array] = {}
        self.begin("")

    def begin(self, name: str) -> None:
        self.name, self.draws = name, 0

    @property
    def terms(self) -> Terms:
        """The terms. RuntimeError after the call has ended."""
        if self._terms is None or self._terms.batch is None:
            raise RuntimeError("the view of a term has ended with the call that it was given to")
        return self._terms

    @property
    def batch(self) -> _core.Batch:
        batch = self.terms.batch
        assert batch is not None
        return batch

    def read(self, name: str) -> Array:
        """Does the same as `TermView.read`."""
        terms = self.terms
        return self.kept(name, lambda: terms.read(name))

    def of_vehicle(self, quantity: str) -> Array:
        """Returns a quantity of each agent's own vehicle."""
        vehicles = self.terms.vehicles
        if len(vehicles) == 1:
            return self.read(f"vehicle:{vehicles[0]}/{quantity}")
        return self.kept(f"own {quantity}", lambda: self._of_vehicles(vehicles, quantity))

    def _of_vehicles(self, vehicles: list[str], quantity: str) -> Array:
        batch = self.batch
        worlds = range(batch.num_envs)
        arrays = [batch.read(worlds, f"vehicle:{name}/{quantity}") for name in vehicles]
        if len({array.shape for array in arrays}) > 1:
            found = ", ".join(f"{n}: {a.shape[1]}" for n, a in zip(vehicles, arrays, strict=True))
            raise ValueError(
                f"{quantity}: found agents with different sizes ({found}), expected read() by name"
            )
        stacked = np.stack(arrays, axis=1)
        return stacked.reshape(-1, *stacked.shape[2:])

    def kept(self, name: str, make: Callable[[], Array]) -> Array:
        """Returns the read-only result of `make`, which is called once a call of the term."""
        _ = self.terms
        if name not in self._cache:
            array = make()
            array.setflags(write=False)
            self._cache[name] = array
        return self._cache[name]

    def end(self) -> None:
        self._terms = None
        self._cache = {}


class ReadView(ABC):
    """Quantities that views of a term have as properties, by the names of `read`. Rows are those of the view."""

    __slots__ = ()

    @property
    def goals(self) -> Array:
        """(n, 2): x, y in the world."""
        return self.read("goal")

    @property
    def times(self) -> Array:
        """(n,): time since the episode began, s."""
        return self.read("time")

    @property
    def actions(self) -> Array:
        """(n, a): actions of this step as applied, in [-1, 1]; 0 after a reset."""
        return self.read("action")

    @property
    def previous_actions(self) -> Array:
        """(n, a): actions of the step before; 0 at first."""
        return self.read("previous_action")

    @property
    def scans(self) -> Array:
        """(n, k): the observation `scan` after this step."""
        return self.observations["scan"]

    @property
    @abstractmethod
    def observations(self) -> Mapping[str, Array]:
        """The environment's own observations by key."""

    @abstractmethod
    def read(self, name: str) -> Array:
        """Returns a quantity by name."""


class TermView(ReadView):
    """The state of all envs in one call of a function. Arrays have a row for each env, or for each agent if worlds have
    several. They are read-only, in SI units and radians. The view ends with the call. An array that a function keeps
    does not change afterwards."""

    __slots__ = ("_call",)  # one object is made in every step

    def __init__(self, call: Call) -> None:
        self._call = call

    @property
    def num_envs(self) -> int:
        """Number of rows. With several agents it is worlds x agents, row = world * agents + agent."""
        return self._call.terms.num_rows

    @property
    def num_agents(self) -> int:
        """Rows of a world, which are consecutive."""
        return len(self._call.terms.vehicles)

    @property
    def control_period(self) -> float:
        """Simulated time of a step, s."""
        return self._call.batch.control_period

    @property
    def poses(self) -> Array:
        """(n, 3): x, y, yaw of the agent's vehicle in the world."""
        return self._call.of_vehicle("pose")

    @property
    def twists(self) -> Array:
        """(n, 3): vx, vy, omega in the body frame."""
        return self._call.of_vehicle("twist")

    @property
    def contact(self) -> Array:
        """(n,) bool: whether the vehicle touched something in this step."""
        return self._call.kept("contact", lambda: self._call.of_vehicle("collision") != 0)

    @property
    def wheels(self) -> Mapping[str, Array]:
        """`spin`, `steer`, `torque`, `load`, `slip_ratio`, `slip_angle`, each (n, wheels)."""
        return _Wheels(self._call)

    @property
    def observations(self) -> Mapping[str, Array]:
        """The environment's own observations by key, after this step. At the end of an episode they are its last
        ones."""
        return _Observations(self._call)

    @property
    def random(self) -> TermRandom:
        """Random numbers; each env has its own stream."""
        return TermRandom(self._call)

    def read(self, name: str) -> Array:
        """Returns anything that `VectorEnv.read` knows by name. With several agents `goal`, `action` and
        `previous_action` belong to each row, and all else to the world of the row."""
        return self._call.read(name)

    def __getattr__(self, name: str) -> NoReturn:
        """Raises AttributeError with the nearest name."""
        names = [known for known in dir(type(self)) if not known.startswith("_")]
        near = difflib.get_close_matches(name, names, 1)
        hint = f", did you mean '{near[0]}'?" if near else ","
        raise AttributeError(
            f"{type(self).__name__} has no '{shortened(name)}'{hint} it has {', '.join(names)};"
            " all else is read by name, as read('vehicle:robot/pose')",
            name=name,
            obj=None,
        )


class BodiesView(TermView):
    """The view of a function that moves bodies: a `TermView` with a row for each world and the bodies of the function's
    element, in their order. With several agents, vehicle quantities are those of the first agent."""

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
        """(n, b, 2): x, y in the world; a new goal is drawn when one is reached."""
        return self._of_bodies("goal")

    @property
    def body_speeds(self) -> Array:
        """(n, b): preferred speed of each body, m/s."""
        return self._of_bodies("speed")

    @property
    def body_radii(self) -> Array:
        """(n, b): radius, m."""
        return self._of_bodies("radius")

    def _of_bodies(self, quantity: str) -> Array:
        def stacked() -> Array:
            arrays = [self.read(f"body:{name}/{quantity}") for name in self._pattern]
            return np.stack(arrays, axis=1)

        return self._call.kept(f"bodies {quantity}", stacked)


class _Keyed(Mapping[str, Array]):
    _KIND: ClassVar[str]

    def __init__(self, call: Call) -> None:
        self._call = call

    @property
    @abstractmethod
    def _keys(self) -> Collection[str]: ...

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"{self._KIND} has no attribute '{shortened(name)}', expected a key:"
            f" {', '.join(f'{self._KIND}[{key!r}]' for key in self)}",
            name=name,
            obj=None,
        )


class _Wheels(_Keyed):
    _KIND = "wheels"
    _keys = ("spin", "steer", "torque", "load", "slip_ratio", "slip_angle")

    def __getitem__(self, key: str) -> Array:
        if key not in self._keys:
            raise KeyError(f"wheels: found '{key}', expected one of {', '.join(self._keys)}")
        return self._call.of_vehicle(f"wheel_{key}")


class _Observations(_Keyed):
    _KIND = "observations"

    @property
    def _keys(self) -> Collection[str]:
        return self._call.terms.native

    def __getitem__(self, key: str) -> Array:
        terms = self._call.terms
        if key not in terms.native:
            raise KeyError(f"found '{key}', expected one of this environment's: {', '.join(terms.native)}")
        return self._call.kept(f"observation {key}", lambda: terms.latest(key))


class TermRandom:
    """Random numbers determined by an env's seed, episode and step, by the term's name and by the number of draws in
    the call. They do not depend on the number of envs and threads."""

    def __init__(self, call: Call) -> None:
        self._call = call

    def uniform(self, low: float = 0.0, high: float = 1.0, size: int = 1) -> Array:
        """Returns (n, size) numbers, uniform in [low, high)."""
        return low + (high - low) * self._draw(size, normal=False)

    def normal(self, mean: float = 0.0, deviation: float = 1.0, size: int = 1) -> Array:
        """Returns (n, size) numbers of a normal distribution."""
        return mean + deviation * self._draw(size, normal=True)

    def _draw(self, size: int, normal: bool) -> Array:
        call = self._call
        call.draws += 1
        numbers = call.batch.draw(zlib.crc32(f"{call.name}/{call.draws}".encode()), int(size), normal)
        # `draw` has a row per agent; a term with a row per world gets the row of the first agent
        return numbers[:: len(numbers) // call.terms.num_rows]
