"""The response of a vehicle's speed to a step of the setpoint, and warnings about it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

_STEP_SECONDS = 3.0  # s that a setpoint up to 1 m/s holds
_BAND = 0.02  # share of the setpoint within which the speed has settled
_SLOW_RISE, _SLOW_SETTLING = 4.0, 8.0  # times the time that the full torque would take
Array = npt.NDArray[np.float64]


class Response(NamedTuple):
    """The response of the speed to a step up and down again; s, m/s."""

    rise: float
    overshoot_percent: float
    steady_error: float
    settling: float
    """Settling time; the duration of the step if the speed does not settle."""
    stop_settling: float
    rebound: float
    speed: float = 1.0
    """Setpoint of the step."""
    least: float = 0.0
    """Time to that speed with full torque; 0: not known."""

    def lines(self) -> Iterator[str]:
        seconds = step_seconds(self.speed)
        yield f"response    to a step of {self.speed:g} m/s, after {seconds:g} s down again:"
        yield f"  rise          {self.rise:.3f} s"
        yield f"  overshoot     {self.overshoot_percent:.1f} %"
        yield f"  steady error  {self.steady_error:.4f} m/s"
        yield f"  settling      {self.settling:.3f} s"
        yield f"  stops in      {self.stop_settling:.3f} s"
        yield f"  rebound       {self.rebound:.4f} m/s" + (
            " (!)" if self.rebound > 0.001 * self.speed else ""
        )

    def warnings(self) -> list[str]:
        """Returns a warning for each property that is out of its range."""
        never = self.settling >= step_seconds(self.speed)
        slow = self.rise > 2 or 0 < _SLOW_RISE * self.least < self.rise
        late = not never and 0 < _SLOW_SETTLING * self.least < self.settling
        could = f" (all torque would take {self.least:.2f} s)" if self.least > 0 else ""
        found = (
            (self.overshoot_percent > 20, f"overshoot of {self.overshoot_percent:.1f} %: raise -a"),
            (self.steady_error > 0.05 * self.speed, f"error of {self.steady_error:.3f} m/s that stays"),
            (self.rebound > 0.01 * self.speed, f"rebound of {self.rebound:.3f} m/s when it stops: raise -a"),
            (slow, f"slow: rise in {self.rise:.2f} s{could}: lower -a"),
            (never, f"slow: does not settle within {step_seconds(self.speed):g} s{could}: lower -a"),
            (late, f"slow: settles in {self.settling:.2f} s{could}: lower -a"),
        )
        return [text for is_so, text in found if is_so]


def step_seconds(speed: float) -> float:
    """Returns how long a setpoint holds, s."""
    return _STEP_SECONDS * max(1.0, speed)


def response_of(response: Array, step: float, speed: float = 1.0, least: float = 0.0) -> Response:
    """Returns the properties of a response to the setpoint `speed` for `step_seconds` and then 0.

    Args:
        response: speed, m/s, every `step` seconds.
        least: time to that speed with full torque, s.
    """
    seconds = step_seconds(speed)
    n = round(seconds / step)
    up, down = response[:n], response[n:]
    outside = np.flatnonzero(np.abs(up - speed) > _BAND * speed)
    settled = (outside[-1] + 1) * step if len(outside) and outside[-1] + 1 < len(up) else seconds
    return Response(
        rise=first_time(up >= 0.9 * speed, step, seconds),
        overshoot_percent=max(0.0, float(up.max() / speed - 1) * 100),
        steady_error=abs(speed - float(up[-max(1, n // 5) :].mean())),
        settling=float(settled),
        stop_settling=first_time(np.abs(down) <= _BAND * speed, step, seconds),
        rebound=max(0.0, -float(down.min())),
        speed=speed,
        least=least,
    )


def first_time(holds: npt.NDArray[np.bool_], step: float, fallback: float) -> float:
    """Returns the first time at which `holds` is true, s; `fallback` if it never is."""
    where = np.flatnonzero(holds)
    return float(where[0]) * step if len(where) else fallback
