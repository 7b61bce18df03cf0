"""What a term in Python sees: arrays of all envs that end with the call, and random numbers of each env's own."""

from __future__ import annotations

import difflib
import zlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core
from mvsim_gym._checks import shortened

if TYPE_CHECKING:
    from mvsim_gym._terms import Terms

Array = npt.NDArray[Any]


class Call:
    """What the view of one call stands on: the terms, until the call ends, and what it has asked for so far."""

    __slots__ = ("_cache", "_terms", "draws", "name")

    def __init__(self, terms: Terms) -> None:
        self._terms: Terms | None = terms
        self._cache: dict[str, Array] = {}
        self.begin("")

    def begin(self, name: str) -> None:
        """The next function is that of the term of this name."""
        self.name, self.draws = name, 0

    @property
    def terms(self) -> Terms:
        """RuntimeError where the call has ended."""
        if self._terms is None or self._terms.batch is None:
            raise RuntimeError("the view of a term has ended with the call that it was given to")
        return self._terms

    @property
    def batch(self) -> _core.Batch:
        """The batch of the terms."""
        batch = self.terms.batch
        assert batch is not None
        return batch

    def read(self, name: str) -> Array:
        """As of `TermView`."""
        terms = self.terms
        return self.kept(name, lambda: terms.read(name))

    def of_vehicle(self, quantity: str) -> Array:
        """A quantity of each agent's own vehicle."""
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
        """What `make` returns, read-only, made once a call."""
        _ = self.terms
        if name not in self._cache:
            array = make()
            array.setflags(write=False)
            self._cache[name] = array
        return self._cache[name]

    def end(self) -> None:
        """The call is over."""
        self._terms = None
        self._cache = {}


class TermView:
    """The state of all envs in one call of a function: arrays with a row an env, or an agent where worlds have
    several, read-only, SI units and radians. It ends with the call; an array that a function keeps stays what it
    was."""

    __slots__ = ("_call",)  # one is made in every step

    def __init__(self, call: Call) -> None:
        self._call = call

    @property
    def num_envs(self) -> int:
        """Rows: of several agents worlds x agents, row = world * agents + agent."""
        return self._call.terms.num_rows

    @property
    def num_agents(self) -> int:
        """Rows of a world, which stand one after the other."""
        return len(self._call.terms.vehicles)

    @property
    def control_period(self) -> float:
        """Simulated seconds of a step."""
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
    def goals(self) -> Array:
        """(n, 2): x, y in the world."""
        return self.read("goal")

    @property
    def times(self) -> Array:
        """(n,): s since the episode began."""
        return self.read("time")

    @property
    def actions(self) -> Array:
        """(n, a): of this step, as applied, in [-1, 1]; 0 after a reset."""
        return self.read("action")

    @property
    def previous_actions(self) -> Array:
        """(n, a): of the step before; 0 at first."""
        return self.read("previous_action")

    @property
    def contact(self) -> Array:
        """(n,) bool: the vehicle touched something in this step."""
        return self._call.kept("contact", lambda: self._call.of_vehicle("collision") != 0)

    @property
    def wheels(self) -> Mapping[str, Array]:
        """`spin`, `steer`, `torque`, `load`, `slip_ratio`, `slip_angle`, each (n, wheels)."""
        return _Wheels(self._call)

    @property
    def scans(self) -> Array:
        """(n, k): the observation `scan`, as it is after this step."""
        return self.observations["scan"]

    @property
    def observations(self) -> Mapping[str, Array]:
        """The environment's own by key, as they are after this step: also those that an episode ends with."""
        return _Observations(self._call)

    @property
    def random(self) -> TermRandom:
        """Random numbers from a stream of each env's own."""
        return TermRandom(self._call)

    def read(self, name: str) -> Array:
        """Anything that `VectorEnv.read` knows by name. Of several agents `goal`, `action` and `previous_action` are
        each row's own, all else is its world's."""
        return self._call.read(name)

    def __getattr__(self, name: str) -> NoReturn:
        """Of a name that it does not have."""
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


class _Keyed(Mapping[str, Array]):
    _KIND: ClassVar[str]

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"{self._KIND} has no attribute '{shortened(name)}', expected a key:"
            f" {', '.join(f'{self._KIND}[{key!r}]' for key in self)}",
            name=name,
            obj=None,
        )


class _Wheels(_Keyed):
    _KIND = "wheels"
    _KEYS = ("spin", "steer", "torque", "load", "slip_ratio", "slip_angle")

    def __init__(self, call: Call) -> None:
        self._call = call

    def __getitem__(self, key: str) -> Array:
        if key not in self._KEYS:
            raise KeyError(f"wheels: found '{key}', expected one of {', '.join(self._KEYS)}")
        return self._call.of_vehicle(f"wheel_{key}")

    def __iter__(self) -> Any:
        return iter(self._KEYS)

    def __len__(self) -> int:
        return len(self._KEYS)


class _Observations(_Keyed):
    _KIND = "observations"

    def __init__(self, call: Call) -> None:
        self._call = call

    def __getitem__(self, key: str) -> Array:
        terms = self._call.terms
        if key not in terms.native:
            raise KeyError(f"found '{key}', expected one of this environment's: {', '.join(terms.native)}")
        return self._call.kept(f"observation {key}", lambda: terms.latest(key))

    def __iter__(self) -> Any:
        return iter(self._call.terms.native)

    def __len__(self) -> int:
        return len(self._call.terms.native)


class TermRandom:
    """Numbers that follow from an env's seed, episode and step, from the term's name and from how often it has asked
    within the call: the same whatever the number of envs and threads."""

    def __init__(self, call: Call) -> None:
        self._call = call

    def uniform(self, low: float = 0.0, high: float = 1.0, size: int = 1) -> Array:
        """(n, size), of [low, high)."""
        return low + (high - low) * self._draw(size, normal=False)

    def normal(self, mean: float = 0.0, deviation: float = 1.0, size: int = 1) -> Array:
        """(n, size)."""
        return mean + deviation * self._draw(size, normal=True)

    def _draw(self, size: int, normal: bool) -> Array:
        call = self._call
        call.draws += 1
        numbers = call.batch.draw(zlib.crc32(f"{call.name}/{call.draws}".encode()), int(size), normal)
        return numbers[:: len(numbers) // call.terms.num_rows]  # of a row a world: its first agent's
