"""Tire models as functions of NumPy arrays. They call the same code as the simulation.

All arguments are in SI units (metres, newtons, pascals, radians, seconds), and are scalars or arrays that broadcast
against each other. Results are float64 arrays of the broadcast shape. The frame is that of the wheel, with x along its
rolling direction and y to its left. A wrong name, shape or range, or a value that is not finite, is a ValueError.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mvsim_gym import _core

FloatArray = npt.NDArray[np.float64]
Names = str | Sequence[str] | npt.NDArray[np.str_]

MODELS: tuple[str, ...] = tuple(_core.tire_models())
"""The friction classes of the world language."""
SURFACES: tuple[str, ...] = tuple(_core.tire_surfaces())
"""The surfaces of the class `vti`: four rigid ones, then the soils sand and clay."""
FORMS = ("corrected", "mavs")

FIVE_DEGREES = math.radians(5)
"""The angle constant of the lateral curve when none is given."""
PSI = 6894.76
"""One pound-force a square inch in pascals, as MAVS converts cone indices."""


class Step(NamedTuple):
    """The result of one time step of a tire."""

    longitudinal: FloatArray
    """Force on the chassis along the rolling direction, N."""
    lateral: FloatArray
    """Force on the chassis to the wheel's left, N."""
    spin: FloatArray
    """Spin of the wheel after the step, rad/s."""


class MavsUpdate(NamedTuple):
    """The result of one update of a MAVS tire."""

    longitudinal: FloatArray
    lateral: FloatArray
    vertical: FloatArray
    spin: FloatArray
    slip: FloatArray


class Parameter(NamedTuple):
    """A parameter of a tire model; angles in radians."""

    name: str
    default: float
    minimum: float
    maximum: float
    minimum_is_excluded: bool
    in_degrees: bool
    choices: tuple[str, ...]

    def value(self, given: Any) -> FloatArray:
        """Returns the numbers of the model from what a user gives: numbers, or names of a choice."""
        if self.choices:
            return _index(self.name, given, self.choices)
        values = _numbers(self.name, given)
        below = values <= self.minimum if self.minimum_is_excluded else values < self.minimum
        if np.any(below | (values > self.maximum)):
            minimum = f"{'>' if self.minimum_is_excluded else '>='} {self.minimum:g}"
            maximum = "" if math.isinf(self.maximum) else f" and <= {self.maximum:g}"
            raise ValueError(f"{self.name}: found {_range_of(values)}, expected values {minimum}{maximum}")
        return values


def parameters(model: str) -> dict[str, Parameter]:
    """Returns the parameters of a model by name, as in `<friction class="MODEL">`. Degrees in the file are radians
    here."""
    _known("tire model", model, MODELS)
    rows = (Parameter(*row[:-1], choices=tuple(row[-1])) for row in _core.tire_params(model))
    return {row.name: row for row in rows}


def vti(
    surface: Names,
    form: str = "corrected",
    *,
    normal_force: npt.ArrayLike,
    slip: npt.ArrayLike = 0.0,
    slip_angle: npt.ArrayLike = 0.0,
    deflection: npt.ArrayLike = 0.0,
    cone_index: npt.ArrayLike = 250 * PSI,
    width: npt.ArrayLike = 0.25,
    diameter: npt.ArrayLike = 1.0,
    section_height: npt.ArrayLike = 0.25,
    crossover_angle: npt.ArrayLike = FIVE_DEGREES,
    motion: npt.ArrayLike = 1.0,
) -> tuple[FloatArray, FloatArray]:
    """Returns longitudinal and lateral force on the vehicle, N, of MAVS's vehicle-terrain interface.

    Rigid surfaces: N D sin(C atan(B s - E (B s - atan(B s)))). Sand: N (T(s) - R) of the mobility numerics N_s and N_u.
    Clay: the same with N_c, with the logarithmic pull of the WES formulas. Lateral: Crolla's -N mu sgn(a) (1 - exp(-|a|
    / crossover_angle)), where mu is the surface's peak, within the friction ellipse. `form="mavs"` returns the results
    of the MAVS code: its fits of sand and clay, mu = 1, no ellipse.

    Args:
        surface: one of SURFACES, or an array of such names.
        form: one of FORMS.
        normal_force: N, >= 0.
        slip: slip ratio in [-1, 1], positive drives (see `slip_of`).
        slip_angle: rad, positive where the wheel moves to its left.
        deflection: of the tire under its load, m, >= 0 and (corrected form) less than section_height.
        cone_index: strength of sand and clay, Pa; without effect on rigid surfaces.
        width, diameter, section_height: of the tire without load, m.
        crossover_angle: of the lateral curve, rad.
        motion: direction of travel in [-1, 1], which soil resists; 0 for a wheel at rest. Corrected form only.
    """
    _known("form", form, FORMS)
    columns = {
        "surface": _index("surface", surface, SURFACES),
        "normal_force": _numbers("normal_force", normal_force, minimum=0),
        "deflection": _numbers("deflection", deflection, minimum=0),
        "section_height": _numbers("section_height", section_height, above=0),
        "width": _numbers("width", width, above=0),
        "diameter": _numbers("diameter", diameter, above=0),
        "cone_index": _numbers("cone_index", cone_index, above=0),
        "slip": _numbers("slip", slip, minimum=-1, maximum=1),
        "slip_angle": _numbers("slip_angle", slip_angle),
        "crossover_angle": _numbers("crossover_angle", crossover_angle, above=0),
        "motion": _numbers("motion", motion, minimum=-1, maximum=1),
    }
    table, shape = _stack(columns)
    if form == "corrected" and np.any(columns["deflection"] >= columns["section_height"]):
        found = _range_of(columns["deflection"])
        raise ValueError(f"deflection: found {found}, expected less than section_height")
    force = _core.tire_vti(form == "mavs", table)
    return force[:, 0].reshape(shape), force[:, 1].reshape(shape)


def slip_of(
    rolling_speed: npt.ArrayLike,
    speed: npt.ArrayLike,
    lateral_speed: npt.ArrayLike = 0.0,
    form: str = "corrected",
    *,
    steer: npt.ArrayLike = 0.0,
    starting: npt.ArrayLike = False,
) -> tuple[FloatArray, FloatArray]:
    """Returns slip ratio and slip angle (rad) of a wheel.

    Ratio: (r w - v) / max(|r w|, |v|, 0.1 m/s). Angle: atan2(v_y, max(|v|, 0.1 m/s)). `form="mavs"` omits the low-speed
    limit of 0.1 m/s and subtracts `steer` (rad) from the angle once more; a wheel that is `starting` has had no torque
    yet.

    Args:
        rolling_speed: r w, m/s. speed, lateral_speed: of the wheel's centre in the wheel's frame, m/s.
    """
    _known("form", form, FORMS)
    table, shape = _stack(
        {
            "rolling_speed": _numbers("rolling_speed", rolling_speed),
            "speed": _numbers("speed", speed),
            "lateral_speed": _numbers("lateral_speed", lateral_speed),
            "steer": _numbers("steer", steer),
            "starting": _numbers("starting", starting),
        }
    )
    slip = _core.tire_slip(form == "mavs", table)
    return slip[:, 0].reshape(shape), slip[:, 1].reshape(shape)


def step(
    model: str,
    params: Mapping[str, Any] | None = None,
    *,
    dt: npt.ArrayLike,
    load: npt.ArrayLike,
    velocity: tuple[npt.ArrayLike, npt.ArrayLike] = (0.0, 0.0),
    spin: npt.ArrayLike = 0.0,
    torque: npt.ArrayLike = 0.0,
    brake: npt.ArrayLike = 0.0,
    radius: npt.ArrayLike,
    inertia: npt.ArrayLike,
    width: npt.ArrayLike = 0.2,
    mass: npt.ArrayLike | None = None,
    effective_mass: npt.ArrayLike | None = None,
    slope_force: tuple[npt.ArrayLike, npt.ArrayLike] = (0.0, 0.0),
    ground_surface: Names | None = None,
    ground_cone_index: npt.ArrayLike | None = None,
    ground_mu: npt.ArrayLike | None = None,
    ground_c_rr: npt.ArrayLike | None = None,
) -> Step:
    """Computes one time step of wheels with a tire model: forces on the chassis and the spin after the step.

    `default`, `wardiagnemma` and `ellipse` return the force that would make the wheel roll without slip within this
    step, up to their limits. `vti` returns the force of its slip, solved for the end of the step.

    Args:
        model: one of MODELS. params: values by the names of `parameters(model)`, the others at their defaults;
            arrays broadcast too, choices are given by name, angles in radians.
        dt: s. load: N, normal force. velocity: (x, y) of the wheel's centre, m/s. spin: rad/s, forward positive.
        torque: N m on the shaft. brake: N m >= 0, opposes the rotation and never turns it round.
        radius, width: m. inertia: kg m2 about the axle.
        mass: kg that the wheel carries (default load / 9.81). effective_mass: kg that a force at the contact
            moves, turning the vehicle included (default mass).
        slope_force: (x, y) pull of the slope on `mass`, N.
        ground_...: value of a property region, which replaces the tire's own parameter. It is a ValueError if the
            model does not have that parameter.
    """
    known = parameters(model)
    ground = {
        "ground_mu": ("mu", ground_mu),
        "ground_c_rr": ("C_rr", ground_c_rr),
        "ground_surface": ("surface", ground_surface),
        "ground_cone_index": ("cone_index_Pa", ground_cone_index),
    }
    for argument, (name, value) in ground.items():
        if value is not None and name not in known:
            fitting = " or ".join(other for other, (parameter, _) in ground.items() if parameter in known)
            raise ValueError(f"{argument}: tire model '{model}' has no '{name}', expected {fitting}")
    given = dict(params or {})
    for name in given:
        _known(f"parameter of tire model '{model}'", name, tuple(known))
    columns = {
        name: row.value(given[name]) if name in given else np.float64(row.default)
        for name, row in known.items()
    }
    load = _numbers("load", load, minimum=0)
    mass = np.maximum(load / 9.81, 1e-9) if mass is None else _numbers("mass", mass, above=0)
    ground_surface_index = (
        np.float64(-1) if ground_surface is None else _index("ground_surface", ground_surface, SURFACES)
    )
    speed, lateral_speed = _pair("velocity", velocity)
    slope_x, slope_y = _pair("slope_force", slope_force)
    inputs = {
        "dt": _numbers("dt", dt, above=0),
        "torque": _numbers("torque", torque),
        "brake": _numbers("brake", brake, minimum=0),
        "mass": mass,
        "effective_mass": mass
        if effective_mass is None
        else _numbers("effective_mass", effective_mass, above=0),
        "load": load,
        "velocity[0]": speed,
        "velocity[1]": lateral_speed,
        "spin": _numbers("spin", spin),
        "radius": _numbers("radius", radius, above=0),
        "inertia": _numbers("inertia", inertia, above=0),
        "width": _numbers("width", width, above=0),
        "slope_force[0]": slope_x,
        "slope_force[1]": slope_y,
        "ground_mu": _or_none("ground_mu", ground_mu),
        "ground_c_rr": _or_none("ground_c_rr", ground_c_rr),
        "ground_surface": ground_surface_index,
        "ground_cone_index": _or_none("ground_cone_index", ground_cone_index),
    }
    table, shape = _stack({**{f"params[{name!r}]": column for name, column in columns.items()}, **inputs})
    result = _core.tire_step(model, table)
    return Step(*(result[:, i].reshape(shape) for i in range(3)))


def mavs_update(
    surface: Names,
    *,
    cone_index: npt.ArrayLike = 250 * PSI,
    radius: npt.ArrayLike,
    width: npt.ArrayLike,
    section_height: npt.ArrayLike,
    stiffness: npt.ArrayLike,
    damping: npt.ArrayLike,
    inertia: npt.ArrayLike,
    viscous: npt.ArrayLike,
    crossover_angle: npt.ArrayLike,
    dt: npt.ArrayLike,
    depth: npt.ArrayLike,
    velocity: tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike],
    steer: npt.ArrayLike = 0.0,
    spin: npt.ArrayLike = 0.0,
    torque: npt.ArrayLike = 0.0,
    starting: npt.ArrayLike = False,
) -> MavsUpdate:
    """One update of a tire over level ground as MAVS's code makes it, for comparison with its output.

    Args:
        stiffness, damping: N/m and N s/m, vertical. viscous: 1/s, of the spin. depth: m of the tire without load
            below the ground. velocity: (forward, left, up) in the frame of the steered wheel, m/s.
        starting: no torque so far, this step included. Others as in `vti` and `step`.

    Returns forces on the vehicle in the wheel's frame (N), the spin after the update, and the slip ratio.
    """
    if len(velocity) != 3:
        raise ValueError(f"velocity: found {len(velocity)} values, expected (forward, left, up)")
    forward, left, up = (_numbers("velocity", v) for v in velocity)
    table, shape = _stack(
        {
            "surface": _index("surface", surface, SURFACES),
            "cone_index": _numbers("cone_index", cone_index, above=0),
            "radius": _numbers("radius", radius, above=0),
            "width": _numbers("width", width, above=0),
            "section_height": _numbers("section_height", section_height, above=0),
            "stiffness": _numbers("stiffness", stiffness, above=0),
            "damping": _numbers("damping", damping, minimum=0),
            "inertia": _numbers("inertia", inertia, above=0),
            "viscous": _numbers("viscous", viscous, minimum=0),
            "crossover_angle": _numbers("crossover_angle", crossover_angle, above=0),
            "dt": _numbers("dt", dt, above=0),
            "depth": _numbers("depth", depth),
            "velocity[0]": forward,
            "velocity[1]": left,
            "velocity[2]": up,
            "steer": _numbers("steer", steer),
            "spin": _numbers("spin", spin),
            "torque": _numbers("torque", torque),
            "starting": _numbers("starting", starting),
        }
    )
    result = _core.tire_mavs_update(table)
    return MavsUpdate(*(result[:, i].reshape(shape) for i in range(5)))


def _known(what: str, name: str, names: Sequence[str]) -> None:
    if name in names:
        return
    near = difflib.get_close_matches(str(name), names, n=1)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    raise ValueError(f"{what}: found {name!r}, expected one of {', '.join(names)}{hint}")


def _index(what: str, names: Names, known: Sequence[str]) -> FloatArray:
    given = np.asarray(names)
    if given.dtype.kind != "U":
        raise ValueError(f"{what}: found {names!r}, expected names: {', '.join(known)}")
    for name in np.unique(given):
        _known(what, str(name), known)
    out = np.empty(given.shape)
    for i, name in enumerate(known):
        out[given == name] = i
    return out


def _numbers(
    what: str,
    given: npt.ArrayLike,
    *,
    minimum: float = -math.inf,
    above: float = -math.inf,
    maximum: float = math.inf,
) -> FloatArray:
    try:
        values = np.asarray(given, dtype=np.float64)
    except OverflowError:
        raise ValueError(f"{what}: found a number beyond 1e308, expected finite ones") from None
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what}: found {given!r}, expected numbers") from error
    if not np.all(np.isfinite(values)):
        raise ValueError(f"{what}: found a value that is not finite")
    if np.any((values < minimum) | (values > maximum)) or (above > -math.inf and np.any(values <= above)):
        bounds = [f">= {minimum:g}"] if minimum > -math.inf else []
        bounds += [f"> {above:g}"] if above > -math.inf else []
        bounds += [f"<= {maximum:g}"] if maximum < math.inf else []
        raise ValueError(f"{what}: found {_range_of(values)}, expected values {' and '.join(bounds)}")
    return values


def _range_of(values: FloatArray) -> str:
    return f"{values.min():g}" if values.size == 1 else f"values from {values.min():g} to {values.max():g}"


def _pair(what: str, given: tuple[npt.ArrayLike, npt.ArrayLike]) -> tuple[FloatArray, FloatArray]:
    if len(given) != 2:
        raise ValueError(f"{what}: found {len(given)} values, expected (x, y)")
    return _numbers(what, given[0]), _numbers(what, given[1])


def _or_none(what: str, given: npt.ArrayLike | None) -> FloatArray:
    return np.asarray(-1.0) if given is None else _numbers(what, given, minimum=0)


def _stack(columns: Mapping[str, npt.ArrayLike]) -> tuple[FloatArray, tuple[int, ...]]:
    try:
        arrays = {name: np.asarray(column, dtype=np.float64) for name, column in columns.items()}
    except OverflowError:
        raise ValueError(f"{', '.join(columns)}: found a number beyond 1e308, expected finite ones") from None
    try:
        shape = np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError as error:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items() if array.shape)
        raise ValueError(f"shapes do not broadcast: {shapes}") from error
    table = np.empty((math.prod(shape), len(arrays)))
    for i, array in enumerate(arrays.values()):
        table[:, i] = np.broadcast_to(array, shape).reshape(-1)
    return table, shape
