"""The keywords of the constructors, each named once: name, type, default, meaning, where it goes.

A row here is all that `Env`, `VectorEnv`, `MVSimVecEnv` and `parallel_env` need to take a new keyword: their
signatures and docstrings, the messages about unknown keywords, `spec`, pickles and the table of docs/python.md follow.
Its value is in `Recipe.options`; one that is `native` is a member of the same name of `_core.BatchOptions`.
"""

import difflib
import inspect
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
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
from mvsim_gym._term_keywords import checked_terms

Path = str | os.PathLike[str]


class Option(NamedTuple):
    """One keyword."""

    default: Any
    doc: str
    check: Callable[[str, Any], Any] | None = None
    """From name and value to what is meant; raises where that is nothing."""
    native: bool = False
    """A member of `_core.BatchOptions`."""
    task: bool = False
    """Kept by `spec`: an environment that is made without it is another one."""


def _autoreset_mode(name: str, found: Any) -> AutoresetMode:
    mode = found.value if isinstance(found, AutoresetMode) else found
    check_mode(name, mode, [known.value for known in AutoresetMode])
    return AutoresetMode(mode)


def _threads(name: str, found: Any) -> int:
    return checked_count(name, found, 0)


def _radius(name: str, found: Any) -> float | None:
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise TypeError(f"{name}: found {kind_of(found)}, expected metres, such as 0.25")
    if not 0 < found < math.inf:
        raise ValueError(f"{name}: found {found}, expected more than 0 metres")
    return number(name, found)


def _pixels(side: int) -> Option:
    return Option(side, "of pictures, pixels.")


NumEnvs = Annotated[int, Option(1, "at least 1.", checked_count, native=True)]
NumThreads = Annotated[
    int,
    Option(
        0,
        "threads that step the envs, the caller's included. 0: all processors of up to two, one fewer of more, at"
        " least four envs a thread (`mvsim-gym doctor` tells).",
        _threads,
        native=True,
    ),
]


Pin = Annotated[
    bool, Option(False, "ties each further thread to a processor of its own.", checked_flag, native=True)
]
Side = Annotated[int, _pixels(320)]
_FLAT = Option(
    False,
    "observations are one float32 vector: those of all keys, in the order of the keys, end to end, in physical units."
    " Of pictures it is refused.",
    checked_flag,
    task=True,
)


class Options(TypedDict, total=False):
    """Of every constructor."""

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
            'of pictures: "above" (all of the world), "behind" (the robot), or "follow": from above, with the robot\'s'
            " trail, as near as robot and goal allow, but never so far that the robot is less than a 20th of the"
            ' picture. Or two points ((x, y, z), (x, y, z)), m: where it is and where it looks. Or "robot/camera", a'
            ' camera of a vehicle ("/camera": one that stands in the world), in its own size; of "depth_array" by'
            " default the first depth camera.",
        ),
    ]
    strict_actions: Annotated[
        bool,
        Option(
            False,
            'an action that is not finite raises ValueError; by default it counts as zero, in `info["bad_action"]`.',
            checked_flag,
            native=True,
            task=True,
        ),
    ]
    spl: Annotated[
        bool,
        Option(
            False,
            "tell `spl`, and `optimal_length` (m) on success, at the end of an episode (for evaluation: it costs time,"
            " a path is planned).",
            checked_flag,
            native=True,
            task=True,
        ),
    ]
    roots: Annotated[
        Path | Sequence[Path],
        Option(
            (),
            "folders that the world may read beside its own parent folder and the package's data: one path or several.",
            task=True,
        ),
    ]
    resources: Annotated[
        Mapping[str, Path] | None,
        Option(
            None,
            'folders that stand for the starts of URLs in worlds: `{"https://host/models/": "folder"}`; beside those of'
            " `MVSIM_RESOURCES` and the cache of `mvsim-gym fetch`. Nothing is downloaded.",
            checked_resources,
            task=True,
        ),
    ]
    strict: Annotated[
        bool,
        Option(
            False,
            "a warning about the world or the environment is an error, and so is motion that a step cuts short.",
            checked_flag,
            native=True,
            task=True,
        ),
    ]
    camera_backend: Annotated[
        str,
        Option(
            "auto",
            'what draws the views of cameras: "egl" (OpenGL, all of them in one call), "rays" (the CPU), or "auto":'
            ' what the environment variable `MVSIM_CAMERA` says, else "egl" where there is a GPU, and "rays" without.'
            " 3D lidars are always cast by rays.",
            checked_backend,
            native=True,
        ),
    ]
    max_episode_steps: Annotated[
        int | None,
        Option(
            None,
            "a time limit in steps, beside that of the environment file; the earlier one counts. (`gymnasium.make`"
            " keeps this keyword for its wrapper TimeLimit: say `time_limit`, in seconds, there.)",
            lambda name, value: None if value is None else checked_count(name, value),
            task=True,
        ),
    ]
    log_dir: Annotated[
        Path | None,
        Option(
            None,
            "a folder for CSV files of every vehicle, a row a physics step; each episode has its own. Of many, it has a"
            " folder `env_0`, `env_1`... for each.",
        ),
    ]
    memory_limit: Annotated[
        int,
        Option(
            DEFAULT_MEMORY_LIMIT,
            "bytes that the worlds and their simulation may take; more is an error before it is taken.",
            checked_memory_limit,
            native=True,
            task=True,
        ),
    ]


def _terms(doc: str) -> Option:
    return Option(None, doc, checked_terms, task=True)


Terms = Mapping[str, Callable[..., Any]]


class OwnOptions(Options, total=False):
    """Functions of the caller's."""

    body_policies: Annotated[
        Terms | None,
        _terms(
            'what moves the bodies of elements with `policy="python"`: `{"people": function}`, functions over'
            " the arrays of all envs that return a velocity a body (docs/python-state.md)."
        ),
    ]
    reward_terms: Annotated[
        Terms | None,
        _terms(
            'rewards of yours: `{"smooth": function}`, functions over the arrays of all envs (docs/python-state.md)'
            " that return a number an env, which is added to the reward."
        ),
    ]
    observation_terms: Annotated[
        Terms | None,
        _terms(
            "observations of yours: functions that return (n,) or (n, size); a further key each, float32."
        ),
    ]
    termination_terms: Annotated[
        Terms | None, _terms("ends of yours: functions that return a bool an env; True is a failure.")
    ]


class EnvOptions(OwnOptions, total=False):
    """Of `Env`."""

    flatten: Annotated[bool, _FLAT]

    num_threads: Annotated[
        int,
        Option(
            1,
            "accepted for the sake of `gymnasium.make_vec`; one environment is stepped by its caller.",
            _threads,
            native=True,
        ),
    ]
    width: Annotated[int, _pixels(480)]
    height: Annotated[int, _pixels(480)]


class VectorOptions(OwnOptions, total=False):
    """Of `VectorEnv`."""

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
        Option(
            True,
            "observations, rewards and flags are copies; with False they are the batch's own arrays, the same ones"
            " each time, which the next call rewrites.",
            checked_flag,
        ),
    ]
    device: Annotated[
        str,
        Option(
            "cpu",
            'Experimental: "cuda:0" (or another GPU of CUDA\'s): images of cameras (`image`, `depth`, `labels`) are'
            ' drawn there by "egl" and stay there, as arrays that leave by DLPack (`torch.from_dlpack`) and are valid'
            ' until the next step (docs/python-learners.md). All else is NumPy, as with "cpu".',
            checked_device,
            native=True,
        ),
    ]
    width: Side
    height: Side


class SB3Options(OwnOptions, total=False):
    """Of `MVSimVecEnv`, beside `num_envs` and `num_threads`."""

    pin: Pin
    flatten: Annotated[
        bool,
        Option(
            True,
            'observations are one float32 vector, scaled by their bounds to [-1, 1], for "MlpPolicy"; with pictures a'
            ' dict of these, channels first, and of the vector of all else, for "MultiInputPolicy". With False a dict'
            " in physical units as the environment has it.",
            checked_flag,
        ),
    ]
    goal_radius: Annotated[
        float | None,
        Option(
            None,
            'metres from its goal at which the robot has reached it: a goal environment for HER and "MultiInputPolicy"'
            " (docs/training.md). Give the radius at which the environment file ends the episode.",
            _radius,
        ),
    ]
    width: Side
    height: Side


class ParallelOptions(OwnOptions, total=False):
    """Of `parallel_env`."""

    flatten: Annotated[bool, _FLAT]
    width: Annotated[int, _pixels(480)]
    height: Annotated[int, _pixels(480)]


def _filled(text: str) -> str:
    """A paragraph of a docstring, in lines of up to 110 characters (`textwrap` takes a millisecond for all of them)."""
    lines = [" " * 7]
    for word in text.split():
        if len(lines[-1]) + 1 + len(word) > 110:
            lines.append(" " * 11)
        lines[-1] += " " + word
    return "\n".join(lines)


class Constructor:
    """A class that makes environments.

    Args:
        made_by: how a user calls it.
        keywords: the TypedDict of its options.
        positional: options that may be given by position, after the environment.
        env: the argument that names the environment.
        needs_env: it has no default.
    """

    # no dataclass: to make one takes half a millisecond of the first gymnasium.make
    def __init__(
        self,
        name: str,
        made_by: str,
        keywords: type,
        positional: Mapping[str, Any] | None = None,
        env: str = "env",
        needs_env: bool = False,
    ) -> None:
        self.name, self.made_by, self.keywords = name, made_by, keywords
        self.positional = positional or {}
        self.env, self.needs_env = env, needs_env

    @cached_property
    def types(self) -> dict[str, Any]:
        """Option -> its annotation."""
        hints = {**self.positional, **self.keywords.__annotations__}
        own = {name: hint for name, hint in hints.items() if name not in Options.__annotations__}
        return {**own, **hints}  # those of all stand behind

    @cached_property
    def options(self) -> dict[str, Option]:
        """Option -> its row."""
        return {name: hint.__metadata__[0] for name, hint in self.types.items()}

    def signature(self, named: Any) -> inspect.Signature:
        """What `help` shows. `named`: the type of what names an environment."""
        kind = inspect.Parameter
        either, keyword = kind.POSITIONAL_OR_KEYWORD, kind.KEYWORD_ONLY
        env = kind(self.env, either, annotation=named)
        if not self.needs_env:
            env = kind(self.env, either, annotation=named | None, default=None)
        parameters = [kind("self", either), env]
        for name, option in self.options.items():
            place = either if name in self.positional else keyword
            annotation = self.types[name].__origin__
            parameters.append(kind(name, place, default=option.default, annotation=annotation))
        return inspect.Signature([*parameters, kind("overrides", kind.VAR_KEYWORD, annotation=Any)])

    def documented(self, doc: str) -> str:
        """A class's docstring with the options before the line of its `overrides`."""
        lines = [_filled(f"{name}: {option.doc}") for name, option in self.options.items()]
        return doc.replace("        overrides:", "\n".join([*lines, "        overrides:"]), 1)


CONSTRUCTORS = {
    c.name: c
    for c in (
        Constructor("Env", "gymnasium.make", EnvOptions),
        Constructor("VectorEnv", "gymnasium.make_vec", VectorOptions),
        Constructor(
            "MVSimVecEnv",
            "mvsim_gym.sb3.MVSimVecEnv",
            SB3Options,
            {"num_envs": NumEnvs, "num_threads": NumThreads},
            "env_id",
            needs_env=True,
        ),
        Constructor("parallel_env", "mvsim_gym.pettingzoo.parallel_env", ParallelOptions, needs_env=True),
    )
}


def all_options() -> dict[str, Option]:
    """The options of all constructors; where they differ, as many environments have them."""
    return {name: option for c in CONSTRUCTORS.values() for name, option in c.options.items()}


def unknown_keyword(kind: str, name: str, of_env: Iterable[str]) -> TypeError:
    """The error for a keyword that neither a constructor nor the environment has, worded as Python does.

    Args:
        kind: the constructor.
        name: the keyword.
        of_env: the keywords of the environment.
    """
    others = [c.made_by for c in CONSTRUCTORS.values() if name in c.options or name == c.env]
    own = CONSTRUCTORS[kind]
    near = difflib.get_close_matches(name, sorted({own.env, *own.options, *of_env} - {name}), 1)
    hint = ""
    if others:
        hint = f", which is one of {' and '.join(others)}"
    elif near:
        hint = f", did you mean '{near[0]}'?"
    return TypeError(f"{kind}.__init__() got an unexpected keyword argument {shortened(name)!r}{hint}")


def table() -> str:
    """The rows as Markdown, for docs/python.md."""
    lines = ["| keyword | default | of | meaning |", "|---|---|---|---|"]
    for name in all_options():
        having = [c for c in CONSTRUCTORS.values() if name in c.options]
        for doc in dict.fromkeys(c.options[name].doc for c in having):
            meant = [c for c in having if c.options[name].doc == doc]
            of = "all" if len(meant) == len(CONSTRUCTORS) else ", ".join(f"`{c.name}`" for c in meant)
            found = [c.options[name].default for c in meant]
            texts = [repr(value.value if isinstance(value, AutoresetMode) else value) for value in found]
            defaults = [f"`{text}`" for text in dict.fromkeys(texts)]
            lines.append(f"| `{name}` | {', of many '.join(defaults)} | {of} | {doc} |")
    return "\n".join(lines)
