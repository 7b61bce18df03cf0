"""The keywords of the constructors: name, type, default, meaning and destination.

A new keyword of `Env`, `VectorEnv`, `MVSimVecEnv` or `parallel_env` needs only a row here. Signatures, docstrings,
messages about unknown keywords, `spec`, pickles and the table of docs/python.md use these rows. `Recipe.options` holds
the values. An option that is `native` is also a member of `_core.BatchOptions` of the same name.
"""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, TypedDict

from gymnasium.vector import AutoresetMode

from mvsim_gym._checks import (
    DEFAULT_MEMORY_LIMIT,
    check_mode,
    checked_backend,
    checked_count,
    checked_device,
    checked_flag,
    checked_memory_limit,
    kind_of,
    number,
    shortened,
)
from mvsim_gym._files import checked_resources

Path = str | os.PathLike[str]


class Option(NamedTuple):
    default: Any
    doc: str
    check: Callable[[str, Any], Any] | None = None
    """Converts the value, given name and value. Raises if the value is invalid."""
    native: bool = False
    """It is a member of `_core.BatchOptions`."""
    task: bool = False
    """`spec` keeps it, because an environment made without it would be a different one."""


def _autoreset_mode(name: str, found: Any) -> AutoresetMode:
    mode = found.value if isinstance(found, AutoresetMode) else found
    check_mode(name, mode, [known.value for known in AutoresetMode])
    return AutoresetMode(mode)


def _threads(name: str, found: Any) -> int:
    return checked_count(name, found, 0)


def _limit(unit: str, example: float) -> Callable[[str, Any], float | None]:
    """Returns the check of a limit above 0 in this unit, or None."""

    def checked(name: str, found: Any) -> float | None:
        if found is None:
            return None
        if isinstance(found, bool) or not isinstance(found, int | float):
            raise TypeError(f"{name}: found {kind_of(found)}, expected {unit}, such as {example}")
        if not 0 < found < math.inf:
            raise ValueError(f"{name}: found {found}, expected more than 0 {unit}")
        return number(name, found)

    return checked


def _flag(doc: str, *, default: bool = False, native: bool = False, task: bool = False) -> Option:
    return Option(default, doc, checked_flag, native, task)


def _pixels(side: int) -> Option:
    return Option(side, "size of pictures, pixels.")


NumEnvs = Annotated[int, Option(1, "at least 1.", checked_count, native=True)]
NumThreads = Annotated[
    int,
    Option(
        0,
        "threads that step the envs, including the caller's. 0: up to two processors are all used, of"
        " more one stays free, with at least four envs a thread (`mvsim-gym doctor` shows it).",
        _threads,
        native=True,
    ),
]


Pin = Annotated[bool, _flag("binds each further thread to its own processor.", native=True)]
Side = Annotated[int, _pixels(320)]
_FLAT = _flag(
    "observations are one float32 vector: those of all keys end to end, in the order of the keys, in physical units."
    " An environment with images refuses it.",
    task=True,
)


class Options(TypedDict, total=False):
    render_mode: Annotated[
        str | None,
        Option(
            None,
            'None, "rgb_array", or "depth_array": float32 (height, width), metres along the axis of a depth camera of'
            " the world, 0 where it sees nothing.",
        ),
    ]
    camera: Annotated[
        str | tuple[Sequence[float], Sequence[float]],
        Option(
            "above",
            'camera of pictures: "above" (the whole world), "behind" (the robot), or "follow": from above, with the'
            " robot's trail, as near as robot and goal allow; the robot has at least a 20th of the picture."
            " Or two points ((x, y, z), (x, y, z)), m: the camera's position and the point it looks at. Or"
            ' "robot/camera", a camera of a vehicle ("/camera": one that stands in the world), in its own size. The'
            ' default of "depth_array" is the first depth camera.',
        ),
    ]
    strict_actions: Annotated[
        bool,
        _flag(
            "an action that is not finite raises ValueError. By default it is replaced by zero and counted in"
            ' `info["bad_action"]`.',
            native=True,
            task=True,
        ),
    ]
    spl: Annotated[
        bool,
        _flag(
            "adds `spl`, and `optimal_length` (m) on success, to the info at the end of an episode. For evaluation:"
            " planning the path takes time.",
            native=True,
            task=True,
        ),
    ]
    roots: Annotated[
        Path | Sequence[Path],
        Option(
            (),
            "folders that the world may read in addition to its parent folder and the package's data: one path or"
            " several.",
            task=True,
        ),
    ]
    resources: Annotated[
        Mapping[str, Path] | None,
        Option(
            None,
            'folders that stand for the starts of URLs in worlds: `{"https://host/models/": "folder"}`, in addition'
            " to those of `MVSIM_RESOURCES` and the cache of `mvsim-gym fetch`. Nothing is downloaded.",
            checked_resources,
            task=True,
        ),
    ]
    strict: Annotated[
        bool,
        _flag(
            "a warning about the world or the environment is an error, and so is motion that a step cuts short.",
            native=True,
            task=True,
        ),
    ]
    camera_backend: Annotated[
        str,
        Option(
            "auto",
            'renderer of camera images: "egl" (OpenGL, all images in one call), "rays" (the CPU), or "auto": the value'
            ' of the environment variable `MVSIM_CAMERA`, else "egl" if there is a GPU, and "rays" if not. 3D lidars'
            " always cast rays.",
            checked_backend,
            native=True,
        ),
    ]
    max_episode_steps: Annotated[
        int | None,
        Option(
            None,
            "a time limit in steps, in addition to that of the environment file; the earlier one counts."
            " `gymnasium.make` uses this keyword for its wrapper TimeLimit: give it `time_limit`, in seconds.",
            lambda name, value: None if value is None else checked_count(name, value),
            task=True,
        ),
    ]
    log_dir: Annotated[
        Path | None,
        Option(
            None,
            "a folder for CSV files of every vehicle, one file per episode, with a row a physics step. Many envs have"
            " folders `env_0`, `env_1`... in it.",
        ),
    ]
    memory_limit: Annotated[
        int,
        Option(
            DEFAULT_MEMORY_LIMIT,
            "bytes that the worlds and their simulation may take. More is an error before it is taken.",
            checked_memory_limit,
            native=True,
            task=True,
        ),
    ]


def checked_terms(name: str, given: Any) -> dict[str, Callable[..., Any]]:
    """Returns a keyword's dict of functions. TypeError for anything else."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise TypeError(f"{name}: found {kind_of(given)}, expected a dict from names to functions")
    for key, function in given.items():
        if not isinstance(key, str) or not key:
            raise TypeError(f"{name}: found {key!r}, expected a name")
        if not callable(function):
            raise TypeError(f"{name}['{shortened(key)}']: found {kind_of(function)}, expected a function")
    return dict(given)


def _terms(doc: str) -> Option:
    return Option(None, doc, checked_terms, task=True)


Terms = Mapping[str, Callable[..., Any]]


class OwnOptions(Options, total=False):
    """Options that take functions of the caller."""

    body_policies: Annotated[
        Terms | None,
        _terms(
            'functions that move the bodies of elements with `policy="python"`: `{"people": function}`. They take'
            " the arrays of all envs and return a velocity for each body (docs/python-state.md)."
        ),
    ]
    reward_terms: Annotated[
        Terms | None,
        _terms(
            'your own rewards: `{"smooth": function}`. They take the arrays of all envs'
            " (docs/python-state.md) and return a number for each env, which is added to the reward."
        ),
    ]
    observation_terms: Annotated[
        Terms | None,
        _terms("your own observations: functions that return (n,) or (n, size); each adds a key, float32."),
    ]
    termination_terms: Annotated[
        Terms | None,
        _terms("your own terminations: functions that return a bool for each env; True is a failure."),
    ]


class EnvOptions(OwnOptions, total=False):
    flatten: Annotated[bool, _FLAT]

    num_threads: Annotated[
        int,
        Option(
            1,
            "has no effect: the caller steps this one environment.",
            _threads,
            native=True,
        ),
    ]
    width: Annotated[int, _pixels(480)]
    height: Annotated[int, _pixels(480)]


class VectorOptions(OwnOptions, total=False):
    flatten: Annotated[bool, _FLAT]

    num_envs: NumEnvs
    num_threads: NumThreads
    pin: Pin
    autoreset_mode: Annotated[
        AutoresetMode | str,
        Option(
            AutoresetMode.NEXT_STEP, "a Gymnasium AutoresetMode or its value.", _autoreset_mode, native=True
        ),
    ]
    copy: Annotated[
        bool,
        _flag(
            "observations, rewards and flags are copies. With False they are always the batch's own arrays, which the"
            " next call overwrites.",
            default=True,
        ),
    ]
    device: Annotated[
        str,
        Option(
            "cpu",
            'Experimental: "cuda:0" (or another GPU of CUDA\'s): camera images (`image`, `depth`, `labels`) are'
            ' drawn on that GPU by "egl" and stay there. Read them by DLPack (`torch.from_dlpack`); they are valid'
            ' until the next step (docs/python-learners.md). All else is NumPy, as with "cpu".',
            checked_device,
            native=True,
        ),
    ]
    width: Side
    height: Side


class SB3Options(OwnOptions, total=False):
    """Options of `MVSimVecEnv`, in addition to `num_envs` and `num_threads`."""

    pin: Pin
    flatten: Annotated[
        bool,
        _flag(
            'observations are one float32 vector, scaled by their bounds to [-1, 1], for "MlpPolicy". With images they'
            ' are a dict of the images, channels first, and the vector of all else, for "MultiInputPolicy". With False'
            " they are the environment's dict in physical units.",
            default=True,
        ),
    ]
    goal_radius: Annotated[
        float | None,
        Option(
            None,
            "distance, m, at which the robot has reached its goal. Makes a goal environment for HER and"
            ' "MultiInputPolicy" (docs/training.md). Give the radius of the goal in the environment file.',
            _limit("metres", 0.25),
        ),
    ]
    goal_angle: Annotated[
        float | None,
        Option(
            None,
            "with `goal_radius`: the angle to the goal's heading, rad, below which the goal counts as reached. The goal"
            " needs a heading (`poses` of `<goal>`).",
            _limit("radians", 0.1),
        ),
    ]
    goal_speed: Annotated[
        float | None,
        Option(
            None,
            "with `goal_radius`: the speed, m/s, up to which the goal counts as reached.",
            _limit("m/s", 0.3),
        ),
    ]
    width: Side
    height: Side


class ParallelOptions(OwnOptions, total=False):
    flatten: Annotated[bool, _FLAT]
    width: Annotated[int, _pixels(480)]
    height: Annotated[int, _pixels(480)]
