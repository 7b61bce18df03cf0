"""Recordings in a browser: `mvsim-gym play`."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, TextIO

from mvsim_gym import _core
from mvsim_gym._build import one_world
from mvsim_gym._constructors import all_options
from mvsim_gym._notices import notice
from mvsim_gym.registration import listing
from mvsim_gym.tools.terminal import ended_by_signals, hear_ctrl_c
from mvsim_gym.world import World

_NAP = 0.01  # s of wall time between checks for commands of browsers
_REMEDY = "expected it as --world WORLD.xml"

Metadata = Mapping[str, Any]


def play(
    path: str,
    *,
    world: str | None = None,
    speed: float = 1.0,
    host: str,
    port: int,
    doors: Mapping[str, Any] | None = None,
    say: TextIO = sys.stderr,
    **loading: Any,
) -> None:
    """Shows a recording until SIGINT (Ctrl-C), SIGTERM, or "End" in the browser.

    Args:
        path: an MCAP file of `World.record` and the like, finished or not.
        world: the world file of the recording; None: the one that it names.
        speed: seconds of the recording for each second of wall time.
        doors: keywords of `Doors`, which control the access.
        loading: further keywords of `World`, which limit the files that it may read. The recording cannot extend them.

    Raises:
        ImportError: the extra `view` or `record` is missing.
        OSError, ValueError: the file cannot be read, its world is not found, or the port is in use.
    """
    from mvsim_gym.recording.mcap_reading import Recorded
    from mvsim_gym.view.doors import Doors
    from mvsim_gym.view.playback import Playback, PlayedView

    if not 0.1 <= speed <= 10:
        raise ValueError(f"--speed: found {speed:g}, expected 0.1 to 10")
    hear_ctrl_c()
    recorded = Recorded(path)
    try:
        playback = Playback(recorded, finder(world, loading))
        playback.moment(0.0, pictures=False)
    except ValueError as error:
        raise ValueError(f"'{path}': {error}") from None
    with (
        PlayedView(playback, host, port, Doors(**(doors or {})), speed=speed) as view,
        ended_by_signals() as ended,
    ):
        print(f"view: {view.url} ({playback.duration:.2f} s)", file=say, flush=True)
        while not (view.ended or ended()):
            try:
                view.advance()
            except ValueError as error:
                raise ValueError(f"'{path}': {error}") from None
            if view.closed:
                raise ValueError(f"'{path}' cannot be shown")
            time.sleep(_NAP)


def finder(world: str | None, loading: Mapping[str, Any]) -> Callable[[Metadata], _core.Model]:
    """Returns a function that finds the world of a recording from its metadata, and loads each world once.

    Args:
        world: a world file that replaces those that recordings name.
        loading: keywords of `World`, also for the worlds that recordings name.
    """
    given = None if world is None else World(world, **loading).model
    found: dict[str, _core.Model] = {}

    def model_of(metadata: Metadata) -> _core.Model:
        key = json.dumps(metadata, sort_keys=True)
        if key not in found:
            found[key] = _checked(given if given is not None else _model_of(metadata, loading), metadata)
        return found[key]

    return model_of


def _model_of(metadata: Metadata, loading: Mapping[str, Any]) -> _core.Model:
    """Loads the world that a recording names: a file or a known id. The recording may come from a stranger, so it
    imports no module and does not extend the files that the world may read."""
    source = metadata.get("world", metadata.get("env"))
    if not isinstance(source, str):
        raise ValueError(f"it does not name its world, {_REMEDY}")
    try:
        if "world" in metadata:
            given = {"world_seed": metadata["world_seed"], "variables": metadata["variables"]}
            return World(source, **{**given, **loading}).model
        if source not in listing() and not os.path.isfile(source):
            raise ValueError("no file, and no environment of mvsim_gym")
        options = all_options()
        given = {
            k: v for k, v in {**metadata["keywords"], **metadata.get("knobs", {})}.items() if k not in options
        }
        batch = one_world(source, **{**given, **{k: v for k, v in loading.items() if k in options}})
    except (OSError, ValueError, TypeError) as error:
        folders = [metadata[key] for key in ("roots", "resources") if metadata.get(key)]
        wanted = (
            f"; it was recorded with the folders {folders}: see --roots and --resources" if folders else ""
        )
        raise ValueError(f"its world '{source}' cannot be loaded ({error}){wanted}; {_REMEDY}") from None
    models = _core.env_models(batch, 0)
    return next((m for m in models if _fingerprint(m) == metadata["fingerprint"]), models[0])


def _checked(model: _core.Model, metadata: Metadata) -> _core.Model:
    frames = _core.scene_frames(model)
    if frames != metadata["frames"]:
        raise ValueError(
            f"its world has {metadata['frames']} frames of bodies, '{model.path}' has {frames}, so it is another world"
            f" or has changed; {_REMEDY} as it was recorded"
        )
    if _fingerprint(model) != metadata["fingerprint"]:
        notice([f"play: '{model.path}' differs from the recorded world: bodies may look different"])
    return model


def _fingerprint(model: _core.Model) -> str:
    from mvsim_gym.recording.scene_topics import fingerprint_of

    return fingerprint_of(model)
