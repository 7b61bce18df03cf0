"""What a caller sets of the parts of a running world, between steps."""

from __future__ import annotations

from mvsim_gym import _core
from mvsim_gym._numbers import number


class SettableVehicle:
    """The part of a `Vehicle` that is set from outside, and its acceleration."""

    _simulation: _core.Simulation
    _index: int

    def set_pose(self, x: float, y: float, yaw: float = 0.0) -> None:
        """Puts the vehicle there at rest, standing on the ground; what is joined to it comes along as it stood at the
        start. Wheels that turn stop; its odometry does not notice.

        Raises:
            ValueError: a value is not finite or farther than 1000 km from the world; it is joined to a static block, or
                follows keyframes.
        """
        self._simulation.place_vehicle(self._index, number("x", x), number("y", y), number("yaw", yaw))

    def set_twist_state(self, vx: float, vy: float = 0.0, omega: float = 0.0) -> None:
        """Gives the vehicle a velocity (m/s and rad/s, body frame), as if it had moved so before: its wheels roll
        along, and what is joined to it moves as one body with it. (`set_twist` commands a controller.)

        Raises:
            ValueError: a value is not finite or beyond 10000; it is joined to a static block, or follows keyframes.
        """
        self._simulation.set_vehicle_twist(
            self._index, number("vx", vx), number("vy", vy), number("omega", omega)
        )

    def reset_collision(self) -> None:
        """Forgets what it has touched: `in_collision` and `had_collision` are False until it touches something."""
        self._simulation.clear_collision_flags(self._index)

    @property
    def acceleration(self) -> tuple[float, float]:
        """m/s2 of the reference point in the last step, along x and y of the body frame."""
        return self._simulation.vehicle_acceleration(self._index)


class SettableBlock:
    """The part of a `Block` that is set from outside."""

    _simulation: _core.Simulation
    _model: _core.BlockModel
    _index: int

    def set_pose(self, x: float, y: float, yaw: float = 0.0) -> None:
        """Puts the block there at rest.

        Raises:
            ValueError: a value is not finite or farther than 1000 km from the world; the block is static and tangible
                (part of the world's static geometry), or follows keyframes.
        """
        self._simulation.place_block(self._index, number("x", x), number("y", y), number("yaw", yaw))

    def set_twist_state(self, vx: float, vy: float = 0.0, omega: float = 0.0) -> None:
        """Gives a block that can move a velocity (m/s and rad/s, body frame).

        Raises:
            ValueError: a value is not finite or beyond 10000; the block is static or intangible.
        """
        self._simulation.set_block_twist(
            self._index, number("vx", vx), number("vy", vy), number("omega", omega)
        )

    @property
    def scale(self) -> float:
        """The factor on its outline; 1 as the world file has it."""
        return self._simulation.parameter(f"block:{self._model.name}/scale")[0]

    def set_scale(self, scale: float) -> None:
        """Resizes its outline, not its height.

        Raises:
            ValueError: beyond 0.01 to 100; the block is part of the world's static geometry.
        """
        self._simulation.set_parameter(f"block:{self._model.name}/scale", number("scale", scale))
