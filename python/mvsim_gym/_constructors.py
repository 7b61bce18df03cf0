"""The constructors of environments: signatures, docstrings, messages and the table of their keywords."""

import difflib
import inspect
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from gymnasium.vector import AutoresetMode

from mvsim_gym._checks import shortened
from mvsim_gym._options import (
    EnvOptions,
    NumEnvs,
    NumThreads,
    Option,
    Options,
    ParallelOptions,
    SB3Options,
    VectorOptions,
)


def _filled(text: str) -> str:
    """Returns a paragraph of a docstring in lines of up to 110 characters. `textwrap` would take a millisecond for all
    of them."""
    lines = [" " * 7]
    for word in text.split():
        if len(lines[-1]) + 1 + len(word) > 110:
            lines.append(" " * 11)
        lines[-1] += " " + word
    return "\n".join(lines)


class Constructor:
    """A class that makes environments.

    Args:
        made_by: the expression by which a user calls it.
        keywords: the TypedDict of its options.
        positional: options that may be given by position, after the environment.
        env: the argument that names the environment.
        needs_env: the argument has no default.
    """

    # No dataclass: creating one takes half a millisecond of the first gymnasium.make.
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
        hints = {**self.positional, **self.keywords.__annotations__}
        own = {name: hint for name, hint in hints.items() if name not in Options.__annotations__}
        return {**own, **hints}  # the options of all classes come last

    @cached_property
    def options(self) -> dict[str, Option]:
        return {name: hint.__metadata__[0] for name, hint in self.types.items()}

    def signature(self, named: Any) -> inspect.Signature:
        """Returns the signature that `help` shows. `named`: type of the argument that names an environment."""
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
        """Returns a class's docstring with the options inserted before the line of its `overrides`."""
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
    """Returns the options of all constructors. If rows differ, that of the last constructor counts."""
    return {name: option for c in CONSTRUCTORS.values() for name, option in c.options.items()}


def unknown_keyword(kind: str, name: str, of_env: Iterable[str]) -> TypeError:
    """Returns the error for a keyword that neither the constructor nor the environment has, worded as Python does.

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
    """Returns the rows as Markdown, for docs/python.md."""
    lines = ["| keyword | default | of | meaning |", "|---|---|---|---|"]
    for name in all_options():
        having = [c for c in CONSTRUCTORS.values() if name in c.options]
        for doc in dict.fromkeys(c.options[name].doc for c in having):
            meant = [c for c in having if c.options[name].doc == doc]
            of = "all" if len(meant) == len(CONSTRUCTORS) else ", ".join(f"`{c.name}`" for c in meant)
            found = [c.options[name].default for c in meant]
            texts = [repr(value.value if isinstance(value, AutoresetMode) else value) for value in found]
            defaults = [f"`{text}`" for text in dict.fromkeys(texts)]
            lines.append(f"| `{name}` | {', for many '.join(defaults)} | {of} | {doc} |")
    return "\n".join(lines)
