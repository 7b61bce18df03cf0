"""Substitutes `${...}` and `$(...)` in the texts of a xacro file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mvsim_gym.robots.elements import Element, near
from mvsim_gym.robots.expressions import STANDARD, Budget, ExpressionError, Namespace, evaluate, size_of
from mvsim_gym.robots.sources import Sources, parse_yaml

_MAX_DEPTH = 60  # properties that depend on each other
_SUBSTITUTION = re.compile(r"\$\$[{(]|\$\{|\$\(")


@dataclass
class Macro:
    name: str
    body: Element
    parameters: list[tuple[str, str | None, bool]]
    """name (with its stars), default text, whether it takes the caller's value of the same name"""


@dataclass
class Scope:
    """Properties of a macro call, on top of those of its caller."""

    parent: Scope | None = None
    values: dict[str, Any] = field(default_factory=dict)
    lazy: set[str] = field(default_factory=set)
    macros: dict[str, Macro] = field(default_factory=dict)

    def holder(self, name: str) -> Scope | None:
        scope: Scope | None = self
        while scope is not None and name not in scope.values:
            scope = scope.parent
        return scope

    def macro(self, name: str) -> Macro | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.macros:
                return scope.macros[name]
            scope = scope.parent
        return None

    def top(self) -> Scope:
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope


class Texts:
    """Evaluates texts. Holds the arguments, the given environment and the budget of all expressions."""

    def __init__(
        self, sources: Sources, arguments: Mapping[str, str], environment: Mapping[str, str]
    ) -> None:
        self._sources = sources
        self.given, self._environment = dict(arguments), environment
        self.declared: dict[str, tuple[str, Scope, Element]] = {}
        """default of each `xacro:arg`: text, scope and element, evaluated at its first use"""
        self._budget = Budget()
        self._resolving: list[str] = []

    def named(self, name: str, scope: Scope, element: Element) -> Any:
        holder = scope.holder(name)
        if holder is None:
            if name in STANDARD:
                return STANDARD[name]
            if name == "xacro":
                return self._functions(element, scope)
            if name in ("load_yaml", "arg"):
                return self._functions(element, scope).members[name]
            known = [*scope.values, *scope.top().values, *STANDARD]
            raise ExpressionError(f"there is no property '{name}'" + near(known, name))
        value = holder.values[name]
        if name not in holder.lazy:
            return value
        if name in self._resolving or len(self._resolving) > _MAX_DEPTH:
            raise ExpressionError(f"the property '{name}' depends on itself")
        self._resolving.append(name)
        try:
            return self.typed(value, scope, element)
        finally:
            self._resolving.pop()

    def _functions(self, element: Element, scope: Scope) -> Namespace:
        def load_yaml(file: str) -> Any:
            path = self._sources.one(str(file), element)
            found = parse_yaml(self._sources.read(path, element), self._sources.shown(path))
            size_of(found)
            return found

        def argument(name: str) -> Any:
            return _literal(self._command("arg", [str(name)], element))

        return Namespace("xacro", {"load_yaml": load_yaml, "arg": argument, **STANDARD["python"].members})

    def typed(self, text: str, scope: Scope, element: Element) -> Any:
        """Returns the value of a text. A single `${...}` keeps its type, and literals become numbers and booleans."""
        pieces = self._pieces(text, scope, element)
        if len(pieces) == 1:
            return _literal(pieces[0]) if isinstance(pieces[0], str) else pieces[0]
        return _literal("".join(map(_shown, pieces)))

    def text(self, text: str, scope: Scope, element: Element) -> str:
        return "".join(map(_shown, self._pieces(text, scope, element)))

    def _pieces(self, text: str, scope: Scope, element: Element) -> list[Any]:
        if "$" not in text:
            return [text]
        pieces: list[Any] = []
        at = 0
        while found := _SUBSTITUTION.search(text, at):
            if found.start() > at:
                pieces.append(text[at : found.start()])
            if found.group().startswith("$$"):
                pieces.append(found.group()[1:])
                at = found.end()
                continue
            end = _closing(text, found.end(), found.group()[1], element)
            inner = text[found.end() : end]
            try:
                if found.group() == "${":
                    pieces.append(
                        evaluate(inner, lambda name: self.named(name, scope, element), self._budget)
                    )
                else:
                    inner = self.text(inner, scope, element)
                    word, *words = inner.split(None, 1) or [""]
                    rest = words[0] if words else ""
                    pieces.append(
                        evaluate(rest, lambda name: self._in_eval(name, scope, element), self._budget)
                        if word == "eval"
                        else self._command(word, rest.split(), element)
                    )
            except ExpressionError as error:
                raise element.fault(str(error)) from None
            at = end + 1
        if at < len(text):
            pieces.append(text[at:])
        return pieces

    def _in_eval(self, name: str, scope: Scope, element: Element) -> Any:
        """Returns the value of a name in `$(eval ...)`, where arguments are names too."""
        if name in self.given or name in self.declared:
            return _literal(self._command("arg", [name], element))
        return self.named(name, scope, element)

    def _command(self, word: str, words: Sequence[str], element: Element) -> str:
        if word in ("find", "find-pkg-share") and len(words) == 1:
            return str(self._sources.package(words[0], element))
        if word == "arg" and len(words) == 1:
            if words[0] in self.given:
                return self.given[words[0]]
            if words[0] in self.declared:
                key = f"$(arg {words[0]})"
                if key in self._resolving:
                    raise element.fault(f"the argument '{words[0]}' depends on itself")
                self._resolving.append(key)
                try:
                    return self.text(*self.declared[words[0]])
                finally:
                    self._resolving.pop()
            raise element.fault(f"there is no argument '{words[0]}', expected one by --arg {words[0]}:=VALUE")
        if word in ("env", "optenv") and words:
            if words[0] in self._environment:
                return self._environment[words[0]]
            if word == "optenv":
                return " ".join(words[1:])
            raise element.fault(f"$(env {words[0]}) is not given, expected --arg {words[0]}:=VALUE")
        if word == "dirname" and not words:
            return str(self._sources.folder_of(element))
        raise element.fault(
            f"found '$({word} {' '.join(words)})', expected find, arg, env, optenv, dirname or eval"
        )


def _closing(text: str, start: int, opens: str, element: Element) -> int:
    """Returns the position of the bracket that closes `opens`, past nested brackets and quoted texts."""
    closes = {"{": "}", "(": ")"}[opens]
    depth, quote = 1, ""
    for i in range(start, len(text)):
        if quote:
            quote = "" if text[i] == quote else quote
        elif opens == "{" and text[i] in "'\"":
            quote = text[i]
        elif text[i] == opens:
            depth += 1
        elif text[i] == closes:
            depth -= 1
            if depth == 0:
                return i
    raise element.fault(f"found '{text[start - 2 : start + 40]}' without its '{closes}'")


def _literal(text: str) -> Any:
    """Returns a property's text as xacro interprets it: as a number or a boolean if possible."""
    stripped = text.strip()
    if len(stripped) > 1 and stripped[0] == stripped[-1] and stripped[0] in "'\"":
        return stripped[1:-1]
    if "_" not in stripped and len(stripped) <= 60:
        for kind in (int, float):
            try:
                return kind(stripped)
            except ValueError:
                pass
    return {"true": True, "True": True, "false": False, "False": False}.get(stripped, text)


def _shown(value: Any) -> str:
    """Returns a value as it is written in a text."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return repr(value)
    size_of(value)
    return str(value)
