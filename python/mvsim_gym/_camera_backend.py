"""Who draws the views of cameras: told to a log, and remembered by pickles and snapshots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from mvsim_gym import _core
from mvsim_gym._notices import notice

_KEY = "_drawn_by"


def has_cameras(model: _core.Model) -> bool:
    """Whether anything of a model may be drawn by OpenGL."""
    return any(sensor.is_camera for sensor in model.sensors)


@lru_cache(maxsize=16)
def tell_backend(wish: str) -> None:
    """Logs who draws, once for each wish, at the level INFO."""
    import logging  # takes longer than all else of a start where nothing is said

    name, reason = _core.camera_backend(wish)
    logging.getLogger("mvsim_gym").info("cameras are drawn by '%s': %s", name, reason)


def observes_cameras(batch: _core.Batch) -> bool:
    """Whether a batch may draw views of cameras: no vector is one, and something must be there that sees."""
    return any(len(o.shape) > 1 for o in batch.observations) and has_cameras(batch.model(0))


def wish_of(options: Mapping[str, Any]) -> str:
    """Who is to draw, of the options of a constructor: images that stay on a GPU are drawn there."""
    return "egl" if options.get("device", "cpu") != "cpu" else str(options["camera_backend"])


def remembered(attributes: Mapping[str, Any], wish: str) -> dict[str, Any]:
    """Attributes of a pickle with the name of who draws."""
    return {**attributes, _KEY: _core.camera_backend(wish)[0]}


def recalled(attributes: Mapping[str, Any], wish: str) -> dict[str, Any]:
    """The attributes alone. Where another draws now there is a notice: states are the same, pixels may differ."""
    if (before := attributes.get(_KEY)) is not None:
        _tell_another("a pickle", before, wish)
    return {name: value for name, value in attributes.items() if name != _KEY}


def tell_restored(states: Iterable[bytes], wish: str) -> None:
    """The same notice for snapshots, which name who drew if anybody had."""
    for before in sorted({name for state in states if (name := _core.snapshot_drawn_by(state))}):
        _tell_another("a snapshot", before, wish)


def _tell_another(what: str, before: str, wish: str) -> None:
    if (now := _core.camera_backend(wish)[0]) != before:
        notice(
            [
                f"{what} whose cameras were drawn by '{before}' is restored where '{now}' draws: its state is the"
                f" same, pixels at edges may differ; camera_backend='{before}' or MVSIM_CAMERA={before} keeps them"
            ]
        )
