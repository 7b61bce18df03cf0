"""Checks the keywords that take functions as terms, and marks the spec of an environment that has such terms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from gymnasium.envs.registration import EnvSpec

from mvsim_gym._checks import kind_of, shortened

if TYPE_CHECKING:
    from mvsim_gym import _core
    from mvsim_gym._terms import Bodies, Terms

KEYWORDS = ("reward_terms", "observation_terms", "termination_terms")
FUNCTIONS = (*KEYWORDS, "body_policies")


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


def terms_of(options: Mapping[str, Any], batch: _core.Batch) -> Terms | None:
    """Returns the terms of a constructor's options; None without terms."""
    functions = {name: options.get(name) or {} for name in KEYWORDS}
    if not any(functions.values()):
        return None
    from mvsim_gym._terms import Terms  # Imported here because most environments have no terms in Python.

    return Terms(functions, batch)


def bodies_of(options: Mapping[str, Any], batch: _core.Batch) -> Bodies | None:
    """Returns the body policies of a constructor's options; None without them.

    Raises:
        ValueError: a function for a group with another policy, or no function for a group with policy="python".
    """
    functions = options.get("body_policies") or {}
    for _, group, policy in batch.bodies:
        if policy == "python" and group not in functions:
            raise ValueError(
                f"body_policies: '{group}' has policy=\"python\", expected a function for it: {{'{group}': function}}"
            )
    if not functions:
        return None
    from mvsim_gym._terms import Bodies  # Imported here because most environments have none.

    return Bodies(functions, batch)


class SpecWithTerms(EnvSpec):
    """An EnvSpec with Python functions. Its `to_json` raises an error that names them."""

    def to_json(self) -> str:
        """Raises ValueError."""
        for name in FUNCTIONS:
            for key in self.kwargs.get(name) or {}:
                raise ValueError(f"{name}['{key}'] is a Python function, which JSON cannot express")
        return super().to_json()


def marked(spec: EnvSpec | None) -> EnvSpec | None:
    """Returns the spec of an environment, as SpecWithTerms if it has functions."""
    if type(spec) is EnvSpec and any(spec.kwargs.get(name) for name in FUNCTIONS):
        spec.__class__ = SpecWithTerms
    return spec
