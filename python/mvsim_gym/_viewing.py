"""`view()` of worlds and environments; what draws is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from mvsim_gym.view.envs_view import EnvsView
    from mvsim_gym.view.world_view import WorldView
    from mvsim_gym.world import World

__all__ = ["ViewableEnvs", "ViewableWorld"]

_HOST, _PORT = "127.0.0.1", 8080


class ViewableWorld:
    """The part of a World that browsers see."""

    _view: WorldView | None = None

    def view(
        self,
        host: str = _HOST,
        port: int = _PORT,
        *,
        token: bool = True,
        allow_hosts: Sequence[str] = (),
    ) -> WorldView:
        """Shows the world in browsers, at the `url` of what is returned, while it is stepped:

            with world.view() as view:
                world.step(60)

        Looking changes nothing in the world. A copy of the world is not seen.

        Args:
            host: where it listens; by default only this machine can look.
            port: 0 takes any that is free.
            token: a page presses only with the token in `url`, and watches without it. False: every page presses.
            allow_hosts: further names, `NAME` or `NAME:PORT`, by which browsers may call this server.

        Raises:
            ImportError: the extra `view` is missing.
            ValueError: the port is taken, a name is none, or the world is being viewed already.
        """
        from mvsim_gym.view.doors import Doors
        from mvsim_gym.view.world_view import WorldView

        if self._view is not None and not self._view.closed:
            raise ValueError(
                f"view: this world is seen at {self._view.url} already, expected close() of that first"
            )
        self._view = WorldView(cast("World", self), host, port, Doors(token, tuple(allow_hosts)))
        return self._view


class ViewableEnvs:
    """The part of environments that browsers see."""

    _view: EnvsView | None = None

    def view(
        self,
        host: str = _HOST,
        port: int = _PORT,
        *,
        token: bool = True,
        allow_hosts: Sequence[str] = (),
        commanded: bool = False,
    ) -> EnvsView:
        """Shows all envs in browsers, at the `url` of what is returned, while they are stepped. Looking changes nothing
        in them; what is pressed there (a pause, another speed, a robot put somewhere) does.

        Args:
            host: where it listens; by default only this machine can look.
            port: 0 takes any that is free.
            token: a page presses only with the token in `url`, and watches without it. False: every page presses.
            allow_hosts: further names, `NAME` or `NAME:PORT`, by which browsers may call this server.
            commanded: in real time, with or without a browser, and with buttons for a reset and an end, which the
                caller does: `wishes` of the view has the words "reset" and "end".

        Raises:
            ImportError: the extra `view` is missing.
            ValueError: the port is taken, a name is none, or the envs are being viewed already.
        """
        from mvsim_gym.view.doors import Doors
        from mvsim_gym.view.envs_view import EnvsView

        if self._view is not None and not self._view.closed:
            raise ValueError(
                f"view: these envs are seen at {self._view.url} already, expected close() of that first"
            )
        doors = Doors(token, tuple(allow_hosts))
        self._view = EnvsView(self._open(), host, port, doors, commanded=commanded)  # type: ignore[attr-defined]
        return self._view

    def _close_view(self) -> None:
        if self._view is not None:
            self._view.close()
            self._view = None
