"""Expands xacro, the macro language of ROS robot descriptions, without running any of its code as Python.

Supported tags: properties (lazy, with scopes, blocks and defaults), macros with defaults and blocks, `include`, `if`,
`unless`, `arg`, `insert_block`, `call`, `element`, `attribute`. In texts: `${expression}`, `$(find)`, `$(arg)`,
`$(env)`, `$(optenv)`, `$(dirname)`, `$(eval)`. Only files in the given packages and in the folder of the description
are read.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mvsim_gym.robots.elements import Element, ImportRobotError, near, parse_xml
from mvsim_gym.robots.expressions import ExpressionError, Namespace
from mvsim_gym.robots.sources import Sources
from mvsim_gym.robots.xacro_texts import Macro, Scope, Texts

_MAX_DEPTH = 60  # nested macros and includes
_XACRO = re.compile(r"^xacro:")
_DEFAULT = r"""(?:"[^"]*"|'[^']*'|(?:\$\{[^}]*\}|[^\s'"$])+)?"""
_PARAMETER = re.compile(rf"\s*([^\s:=]+?)(?::?=(\^\|?)?({_DEFAULT}))?(?=\s|$)")


class _Expander:
    def __init__(
        self, sources: Sources, arguments: Mapping[str, str], environment: Mapping[str, str]
    ) -> None:
        self._sources, self._limits = sources, sources.limits
        self.texts = Texts(sources, arguments, environment)
        self._depth = 0
        self._count = 0
        self.missing: list[tuple[str, str]] = []

    def children(self, parent: Element, scope: Scope) -> list[Element]:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise parent.fault(f"macros or includes nested deeper than {_MAX_DEPTH}")
        found: list[Element] = []
        for child in parent.children:
            found.extend(self._element(child, scope, found, parent))
        self._depth -= 1
        return found

    def _element(
        self, element: Element, scope: Scope, before: list[Element], parent: Element
    ) -> list[Element]:
        self._count += 1
        if self._count > self._limits.elements:
            raise element.fault(f"more than {self._limits.elements} elements after expansion")
        tag = _XACRO.sub("", element.tag)
        prefixed = tag != element.tag
        handler = getattr(self, f"_do_{tag.replace('.', '_')}", None) if prefixed else None
        if handler is not None:
            return list(handler(element, scope))
        if prefixed:
            macro = scope.macro(tag)
            if macro is None:
                known = list(self._all_macros(scope))
                hint = f"; {self.missing[0][1]}" if self.missing else ""
                raise element.fault(f"<{element.tag}>: there is no such macro" + near(known, tag) + hint)
            return self._call(macro, element, scope)
        return [self._plain(element, scope)]

    def _plain(self, element: Element, scope: Scope, tag: str | None = None) -> Element:
        made = Element(tag or element.tag, {}, element.file, element.line)
        for name, value in element.attributes.items():
            if not name.startswith(("xmlns", "xacro:")):
                made.attributes[name] = self.texts.text(value, scope, element)
        made.text = self.texts.text(element.text, scope, element) if element.text.strip() else ""
        for child in self.children(element, scope):
            if child.tag == "\0attribute":
                made.attributes[child.attributes["name"]] = child.attributes["value"]
            else:
                made.children.append(child)
        return made

    def _all_macros(self, scope: Scope | None) -> dict[str, Macro]:
        found: dict[str, Macro] = {}
        while scope is not None:
            found = {**scope.macros, **found}
            scope = scope.parent
        return found

    def _do_property(self, element: Element, scope: Scope) -> list[Element]:
        name = self.texts.text(element.attribute("name"), scope, element)
        target = {"parent": scope.parent or scope, "global": scope.top()}.get(
            element.attributes.get("scope", ""), scope
        )
        if element.attributes.get("remove", "").lower() in ("true", "1"):
            target.values.pop(name, None)
        elif "default" in element.attributes:
            if scope.holder(name) is None:
                self._set(target, name, element.attributes["default"], element, scope)
        elif "value" in element.attributes:
            self._set(target, name, element.attributes["value"], element, scope)
        else:
            target.values[name] = element
        return []

    def _set(self, target: Scope, name: str, text: str, element: Element, scope: Scope) -> None:
        lazy = element.attributes.get("lazy_eval", "true").lower() not in ("false", "0") and target is scope
        target.values[name] = text if lazy else self.texts.typed(text, scope, element)
        (target.lazy.add if lazy else target.lazy.discard)(name)

    def _do_arg(self, element: Element, scope: Scope) -> list[Element]:
        name = element.attribute("name")
        if "default" in element.attributes and name not in self.texts.given:
            self.texts.declared[name] = (element.attributes["default"], scope, element)
        return []

    def _do_macro(self, element: Element, scope: Scope) -> list[Element]:
        name = element.attribute("name").removeprefix("xacro:")
        text = element.attributes.get("params", "")
        parameters: list[tuple[str, str | None, bool]] = []
        for found in _PARAMETER.finditer(text):
            word, forwards, default = found.group(1), found.group(2), found.group(3)
            has_default = found.group(0).strip() != word
            if default and default[0] in "'\"" and default[-1] == default[0]:
                default = default[1:-1]
            keeps = bool(has_default and (forwards is None or "|" in forwards))
            parameters.append((word, (default or "") if keeps else None, forwards is not None))
        scope.macros[name] = Macro(name, element, parameters)
        return []

    def _do_include(self, element: Element, scope: Scope) -> list[Element]:
        unknown = self._unknown_package(element.attribute("filename"))
        if unknown:
            reason = f"the package '{unknown}' is not known (--package {unknown}=FOLDER)"
            self.missing.append((element.place, reason))
            return []
        name = self.texts.text(element.attribute("filename"), scope, element)
        optional = element.attributes.get("optional", "false").lower() in ("true", "1")
        paths = self._sources.matching(name, element)
        if not paths:
            if not optional:
                self.missing.append(
                    (element.place, f"the file '{Path(name).name}' is not in the given packages")
                )
            return []
        target = scope
        if "ns" in element.attributes:
            target = Scope()
            target.parent = None
        found: list[Element] = []
        for path in paths:
            root = parse_xml(self._sources.read(path, element), self._limits, self._sources.shown(path))
            found.extend(self.children(root, target))
        if target is not scope:
            space = self.texts.text(element.attributes["ns"], scope, element)
            scope.macros.update({f"{space}.{name}": macro for name, macro in target.macros.items()})
            scope.values[space] = Namespace(
                space, {name: self.texts.named(name, target, element) for name in target.values}
            )
        return found

    def _unknown_package(self, filename: str) -> str:
        """Returns the unknown package of a `$(find)` in a file name; None if there is none."""
        for found in re.finditer(r"\$\((?:find|find-pkg-share)\s+([\w.-]+)\s*\)", filename):
            if not self._sources.knows(found.group(1)):
                return found.group(1)
        return ""

    def _do_if(self, element: Element, scope: Scope) -> list[Element]:
        return self.children(element, scope) if self._condition(element, scope) else []

    def _do_unless(self, element: Element, scope: Scope) -> list[Element]:
        return [] if self._condition(element, scope) else self.children(element, scope)

    def _condition(self, element: Element, scope: Scope) -> bool:
        value = self.texts.typed(element.attribute("value"), scope, element)
        if isinstance(value, str):
            if value.strip().lower() in ("true", "1"):
                return True
            if value.strip().lower() in ("false", "0", ""):
                return False
            raise element.fault(f"found '{value[:60]}', expected true, false or a number")
        return bool(value)

    def _do_insert_block(self, element: Element, scope: Scope) -> list[Element]:
        name = self.texts.text(element.attribute("name"), scope, element)
        for key in (name, f"*{name}", f"**{name}"):
            holder = scope.holder(key)
            if holder is not None and isinstance(holder.values[key], Element | list):
                block = holder.values[key]
                if isinstance(block, list):  # already expanded in the scope of the caller
                    return copy.deepcopy(block)
                return self.children(block, scope)
        raise element.fault(f"there is no block '{name}'")

    def _do_call(self, element: Element, scope: Scope) -> list[Element]:
        name = self.texts.text(element.attribute("macro"), scope, element)
        macro = scope.macro(name)
        if macro is None:
            raise element.fault(f"there is no macro '{name}'" + near(list(self._all_macros(scope)), name))
        return self._call(macro, element, scope, without="macro")

    def _do_element(self, element: Element, scope: Scope) -> list[Element]:
        return [self._plain(element, scope, self.texts.text(element.attribute("xacro:name"), scope, element))]

    def _do_attribute(self, element: Element, scope: Scope) -> list[Element]:
        made = Element("\0attribute", {}, element.file, element.line)
        made.attributes = {
            key: self.texts.text(element.attribute(key), scope, element) for key in ("name", "value")
        }
        return [made]

    def _call(self, macro: Macro, element: Element, scope: Scope, without: str = "") -> list[Element]:
        inner = Scope(scope)
        given = {name: value for name, value in element.attributes.items() if name != without}
        blocks = self.children(element, scope)
        for name, default, forwards in macro.parameters:
            if name.startswith("**"):
                inner.values[name[2:]] = self._taken_block(blocks, macro, element).children
            elif name.startswith("*"):
                inner.values[name[1:]] = [self._taken_block(blocks, macro, element)]
            elif name in given:
                inner.values[name] = self.texts.typed(given.pop(name), scope, element)
            elif forwards and scope.holder(name) is not None:
                inner.values[name] = self.texts.named(name, scope, element)
            elif default is not None:
                inner.values[name] = self.texts.typed(default, inner, element)
            else:
                raise element.fault(f"<{element.tag}> without the parameter '{name}', expected one")
        if given:
            known = [name for name, _, _ in macro.parameters]
            unknown = next(iter(given))
            raise element.fault(
                f"the macro '{macro.name}' has no parameter '{unknown}'" + near(known, unknown)
            )
        if blocks:
            raise element.fault(f"<{element.tag}>: found {len(blocks)} more blocks than the macro takes")
        return self.children(macro.body, inner)

    def _taken_block(self, blocks: list[Element], macro: Macro, element: Element) -> Element:
        if not blocks:
            raise element.fault(f"<{element.tag}>: the macro '{macro.name}' takes a block that is missing")
        return blocks.pop(0)


@dataclass
class Expansion:
    root: Element
    missing: list[tuple[str, str]]
    """place and reason of each include whose file does not exist"""


def expand(
    path: Path, sources: Sources, arguments: Mapping[str, str], environment: Mapping[str, str]
) -> Expansion:
    """Expands a description.

    A file that only defines one macro is expanded as if it called that macro, if all parameters have defaults.

    Args:
        path: a description, with xacro or without.
        sources: the files that may be read.
        arguments: values of `xacro:arg`.
        environment: values of `$(env)` and `$(optenv)`; the environment of the process is never read.

    Raises:
        ImportRobotError: the description is no valid xacro, or exceeds a limit.
    """
    shown = sources.shown(path)
    root = parse_xml(sources.read(path, None), sources.limits, shown)
    expander = _Expander(sources, arguments, environment)
    scope = Scope()
    made = Element(root.tag, {}, root.file, root.line)
    try:
        made.children = expander.children(root, scope)
        own = [macro for macro in scope.macros.values() if macro.body.file == shown]
        if root.tag == "robot" and made.first("link") is None and len(own) == 1:
            call = Element(f"xacro:{own[0].name}", {}, root.file, own[0].body.line)
            made.children += expander.children(Element("robot", {}, root.file, root.line, [call]), scope)
            made.attributes["name"] = own[0].name
        for name, value in root.attributes.items():
            if not name.startswith("xmlns"):
                made.attributes[name] = expander.texts.text(value, scope, root)
    except RecursionError:
        raise ImportRobotError(f"{shown}: nested too deeply") from None
    except ExpressionError as error:
        raise root.fault(str(error)) from None
    return Expansion(made, expander.missing)
