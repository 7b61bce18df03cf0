"""A vehicle file for identification: properties, nominal parameters, and worlds in which it is simulated."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from xml.etree import ElementTree

import numpy as np

from mvsim_gym.identify.log import Array, LogError
from mvsim_gym.identify.parameters import PARAMETERS, Parameter
from mvsim_gym.tools.tune import with_controller
from mvsim_gym.world import World

NAME = "robot"
"""Name of the vehicle in the worlds of identification."""
_WHEEL_DRIVEN = '<controller class="twist_wheels"></controller>'
_GRAVITY = 9.81
_LEAST = 1e-9


@dataclass
class Robot:
    """A <vehicle:class> of a file.

    Args:
        path: the vehicle file.
        class_name: name of the class; None: the last of the file.
        variables: variables of the include, e.g. `{"controller": "twist_pid"}`.
        wheel_driven: the wheels turn at given speeds (controller `twist_wheels`), not by the vehicle's controller.
        step: physics step, s.

    Raises:
        LogError: the file has no such class.
        OSError: the file cannot be read.
    """

    path: str
    class_name: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    wheel_driven: bool = False
    step: float = 0.005
    roots: Sequence[str] = ()

    def __post_init__(self) -> None:
        with open(self.path, encoding="utf-8") as file:
            self.text = file.read()
        plain = re.sub(r"<!--.*?-->", "", self.text, flags=re.DOTALL)
        names = re.findall(r"""<vehicle:class\b[^>]*\bname\s*=\s*["']([^"']+)["']""", plain)
        if not names:
            raise LogError(f"{self.path}: found no <vehicle:class>, expected a vehicle file")
        if self.class_name is None:
            self.class_name = names[-1]
        elif self.class_name not in names:
            raise LogError(f"{self.path}: found the classes {', '.join(names)}, expected '{self.class_name}'")
        self._variables = dict(self.variables)
        for part in ("default_sensors", "visuals"):
            if f"${{{part}" in self.text:
                self._variables.setdefault(part, "false")
        self._folder = tempfile.TemporaryDirectory(prefix="mvsim_gym_identify")
        self.world_path = self._written()

    def close(self) -> None:
        self._folder.cleanup()

    def __enter__(self) -> Robot:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _written(self) -> str:
        """Writes an empty world with one vehicle and returns its path. Relative file names in the class resolve as in
        its own file."""
        folder = self._folder.name
        near = os.path.dirname(os.path.abspath(self.path))
        name = os.path.basename(self.path)
        for other in os.listdir(near):
            if other != name and other.endswith((".xml", ".png", ".dae", ".obj", ".stl", ".yaml")):
                os.symlink(os.path.join(near, other), os.path.join(folder, other))
        text = self.text
        if self.wheel_driven:
            text = with_controller(text, self.class_name or "", _WHEEL_DRIVEN)
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
        include = ElementTree.Element("include", {"file": name, **self._variables})
        world = os.path.join(folder, "identify.world.xml.tmp")
        with open(world, "w", encoding="utf-8") as file:
            file.write(
                f"<mvsim_world><simul_timestep>{self.step!r}</simul_timestep><gravity>{_GRAVITY}</gravity>"
                f"{ElementTree.tostring(include, encoding='unicode')}"
                f'<vehicle name="{NAME}" class="{self.class_name}"><init_pose>0 0 0</init_pose>'
                '<odometry x_multiplier="1" y_multiplier="1" yaw_multiplier="1"/></vehicle></mvsim_world>'
            )
        return world

    @property
    def all_roots(self) -> list[str]:
        near = os.path.dirname(os.path.abspath(self.path))
        return [near, os.path.dirname(near), *self.roots]

    @cached_property
    def world(self) -> World:
        """Returns a world with the robot, to read its properties."""
        return World(self.world_path, roots=self.all_roots)

    @property
    def wheels(self) -> list[list[float]]:
        """Returns x, y, yaw, width, radius and mass of each wheel."""
        return self.world.vehicles[NAME].wheel_mounts

    @property
    def controller(self) -> str:
        return self.world.vehicles[NAME].controller

    @property
    def command_names(self) -> tuple[str, ...]:
        return self.world.vehicles[NAME].command_names

    @property
    def steers(self) -> bool:
        """Whether its command has a steering angle."""
        return "steer" in self.command_names

    @property
    def track(self) -> float:
        """Returns the distance between the first two wheels, m."""
        return abs(self.wheels[0][1] - self.wheels[1][1])

    @property
    def radius(self) -> float:
        """Returns the radius of the first wheel, as the controller and the odometry use it, m."""
        return self.wheels[0][4]

    @cached_property
    def paths(self) -> dict[str, float]:
        """Returns the nominal values of the vehicle's parameters by path."""
        return {path: nominal for path, nominal, *_ in self.world.model.parameters}

    def paths_of(self, row: Parameter) -> list[str]:
        """Returns the paths that a parameter sets; none if the robot lacks it."""
        return [path for path in self.paths if row.matches(path, NAME)]

    def nominal(self, row: Parameter) -> float | None:
        """Returns the value before the fit; None if the robot lacks the parameter."""
        if row.target != "world":
            if row.name.startswith("steer") and not self.steers:
                return None
            return row.fallback
        paths = self.paths_of(row)
        if not paths:
            return None
        if row.name == "track":
            return self.track
        value = self.paths[paths[0]]
        if row.name == "inertia" and not value > 0:
            value = self.paths[f"vehicle:{NAME}/chassis/mass"] * _gyration(self.world.vehicles[NAME].outline)
        if row.logarithmic and not value > _LEAST:
            value = row.fallback
        return float(value)

    def values_at(self, row: Parameter, value: Array) -> dict[str, Array]:
        """Returns the values to set by path, for values of a parameter."""
        nominal = self.nominal(row)
        assert nominal is not None
        out = {}
        for path in self.paths_of(row):
            if row.name == "track":
                out[path] = value / nominal
            elif row.name == "wheel_radius":
                out[path] = value / nominal * self.paths[path]
            else:
                out[path] = value
        return out

    def known(self) -> list[str]:
        """Returns the names of the parameters that the robot has."""
        return [name for name, row in PARAMETERS.items() if self.nominal(row) is not None]


def _gyration(outline: Array) -> float:
    """Returns the squared radius of gyration of a polygon about its centroid, m2, from its second moments of area."""
    x, y = outline.T
    xn, yn = np.roll(x, -1), np.roll(y, -1)
    cross = x * yn - xn * y
    area = cross.sum() / 2
    cx, cy = ((x + xn) * cross).sum() / (6 * area), ((y + yn) * cross).sum() / (6 * area)
    second = ((x * x + x * xn + xn * xn + y * y + y * yn + yn * yn) * cross).sum() / 12
    return float(second / area - cx * cx - cy * cy)
