"""Reads the lines of an SVG drawing. Shapes follow SVG 1.1; path data and transforms are evaluated by svgelements."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from mvsim_gym._notices import extra
from mvsim_gym.robots.description import Array
from mvsim_gym.robots.elements import Element, Fate, ImportRobotError, Limits, parse_xml
from mvsim_gym.robots.plan_lines import UNITS, Walls, flattened

_MAX_BYTES = 8 << 20
_MAX_COPIES = 20_000  # of groups and shapes, by <use>
_DEPTH = 50  # of groups and of <use>
_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_SKIP = re.compile(r"[ \t\r\n\f,]*")
_ARGUMENTS = {"m": 2, "l": 2, "h": 1, "v": 1, "c": 6, "s": 4, "q": 4, "t": 2, "a": 7, "z": 0}
_FUNCTION = re.compile(r"[\s,]*(matrix|translate|scale|rotate|skewX|skewY)\s*\(([^()]*)\)")
_PX = {"px": 1 / 96, "pt": 1 / 72, "pc": 1 / 6}  # inches
_WITHOUT_SHAPE = {"title", "desc", "metadata"}
_DEFINITIONS = {"defs", "symbol", "clipPath", "mask", "pattern", "marker", "linearGradient", "radialGradient"}
_GROUPS = {"g", "a"}
_SHAPES = {"line", "polyline", "polygon", "rect", "circle", "ellipse", "path"}


def read_svg(data: bytes, shown: str, walls: Walls, layers: list[str]) -> list[str]:
    """Adds the shapes of an SVG file to `walls`, and returns the layers that were found.

    Args:
        data: the file.
        shown: its name in messages.
        walls: receives the lines and the rows of the table.
        layers: labels or ids of groups to use; empty: all that are visible.

    Raises:
        ImportRobotError: the file is damaged, exceeds a limit, or has no unit of length.
    """
    with extra("reading SVG drawings", "robots"):
        import svgelements  # noqa: F401

    if len(data) > _MAX_BYTES:
        raise ImportRobotError(f"{shown}: larger than {_MAX_BYTES >> 20} MiB")
    root = parse_xml(data, Limits(doctype=True), shown)
    if _name(root) != "svg":
        raise root.fault(f"found <{root.tag}>, expected <svg>")
    reader = _Reader(root, walls, layers)
    reader.children(root, _page(root.used(), walls), not layers, 0)
    for element in root.walk():
        walls.rows.extend(reader.rows_of(element))
    return reader.found


def _name(element: Element) -> str:
    """Returns the tag without the prefix `svg:`."""
    return element.tag.removeprefix("svg:")


def _length(element: Element, text: str, what: str) -> tuple[float, str]:
    match = re.fullmatch(rf"\s*({_NUMBER})\s*([a-zA-Z%]*)\s*", text)
    if match is None:
        raise element.fault(f"{what}: found '{text[:40]}', expected a length")
    return element.numbers(match[1], 1)[0], match[2]


def _coordinate(element: Element, name: str, default: float = 0.0) -> float:
    if name not in element.attributes:
        return default
    value, unit = _length(element, element.attributes[name], name)
    if unit not in ("", "px"):
        raise element.fault(f"{name}: found the unit '{unit}', expected units of the drawing")
    return value


def _page(root: Element, walls: Walls) -> Array:
    """Returns the matrix (2, 3) from units of the drawing to metres, with y up from the lower edge of the page."""
    box = root.attributes.get("viewBox")
    corner, size = (0.0, 0.0), (0.0, 0.0)
    if box is not None:
        x, y, width, height = root.numbers(box.replace(",", " "), 4)
        if not (width > 0 and height > 0):
            raise root.fault(f"viewBox: found '{box[:60]}', expected a size above 0")
        corner, size = (x, y), (width, height)
    metres: list[float] = []
    for i, name in enumerate(("width", "height")):
        if name not in root.attributes:
            continue
        value, unit = _length(root, root.attributes[name], name)
        if box is None and unit in ("", "px"):
            size = (value, size[1]) if i == 0 else (size[0], value)
        if unit in UNITS and size[i] > 0 and value > 0:
            metres.append(value * UNITS[unit] / size[i])
        elif unit in UNITS or unit in ("pt", "pc"):
            in_px = value * (UNITS[unit] / UNITS["in"] if unit in UNITS else _PX[unit]) * 96
            size = (in_px, size[1]) if i == 0 else (size[0], in_px)
            metres.append(UNITS["in"] / 96)
    if walls.placement.unit:
        scale = UNITS[walls.placement.unit]
    elif metres and size[1] > 0 and (box is not None or len(metres) == 2):
        if max(metres) > 1.001 * min(metres):
            raise root.fault(
                f"one unit is {metres[0]:.6g} m by width and {metres[1]:.6g} m by height, expected --unit"
            )
        scale = metres[0]
    else:
        raise root.fault("the drawing has no width in mm, cm or in with a viewBox, expected --unit")
    scale *= walls.placement.scale
    if size[1] <= 0:
        walls.rows.append(
            (Fate.APPROXIMATED, root.place, "svg", "no height of the page: --origin is its upper left corner")
        )
    bottom = corner[1] + size[1]
    return np.array([[scale, 0.0, -scale * corner[0]], [0.0, -scale, scale * bottom]])


def _chained(first: Array, second: Array) -> Array:
    """Returns the matrix of `second`, followed by `first`."""
    return np.column_stack([first[:, :2] @ second[:, :2], first[:, :2] @ second[:, 2] + first[:, 2]])


class _Reader:
    def __init__(self, root: Element, walls: Walls, layers: list[str]) -> None:
        self.found: list[str] = []
        self._walls, self._layers = walls, layers
        self._copies, self._uses = 0, 0
        self._unchosen: set[int] = set()
        self._by_id = {item.attributes["id"]: item for item in root.walk() if "id" in item.attributes}

    def rows_of(self, element: Element) -> list[tuple[Fate, str, str, str]]:
        """Returns the row of an element, unless it is that of a layer that was not chosen."""
        if id(element) in self._unchosen and element.fate is None:
            row = (Fate.IGNORED, element.place, element.tag, "its layer is not chosen")
            self._walls.unchosen.append(row)
            return []
        fate = element.fate or Fate.IGNORED
        reason = element.reason or ("" if fate is Fate.USED else "it is not known to this import")
        return [(fate, element.place, element.tag, reason)]

    def children(self, parent: Element, matrix: Array, chosen: bool, depth: int) -> None:
        for element in parent.children:
            self._element(element, matrix, chosen, depth)

    def _element(self, element: Element, matrix: Array, chosen: bool, depth: int) -> None:
        name = _name(element)
        self._copies += self._uses > 0
        if self._copies > _MAX_COPIES:
            raise element.fault(f"more than {_MAX_COPIES} copies by <use>")
        if depth > _DEPTH:
            raise element.fault(f"groups and <use> nested deeper than {_DEPTH}")
        if ":" in name or name in _WITHOUT_SHAPE or name in _DEFINITIONS:
            for below in element.walk():
                below.used()
            return
        if name in _GROUPS or name in _SHAPES or name == "use":
            labels = {element.attributes.get(key, "") for key in ("inkscape:label", "id")} - {""}
            if name in _GROUPS:
                self.found.extend(sorted(labels))
            chosen = chosen or bool(labels & set(self._layers))
            if _hidden(element) and not labels & set(self._layers):
                element.ignored("it is not displayed")
                return
            if not chosen and name not in _GROUPS:
                self._unchosen.add(id(element))
                return
            element.used()
            matrix = _chained(matrix, _transform(element))
            if name in _GROUPS:
                self.children(element, matrix, chosen, depth + 1)
            elif name == "use":
                self._use(element, matrix, chosen, depth)
            else:
                self._shape(element, name, matrix)
            return
        if not chosen and name not in ("style", "svg"):
            self._unchosen.update(id(below) for below in element.walk())
            return
        reasons = {
            "style": "style sheets are not read: walls have the thickness of --thickness",
            "text": "text is no wall",
            "image": "pictures are no walls: a PNG file is imported by itself",
            "svg": "nested drawings are not read",
        }
        element.ignored(reasons.get(name, "it is not known to this import"))

    def _use(self, element: Element, matrix: Array, chosen: bool, depth: int) -> None:
        link = element.attributes.get("href", element.attributes.get("xlink:href", ""))
        target = self._by_id.get(link.removeprefix("#")) if link.startswith("#") else None
        if target is None or _name(target) not in _GROUPS | _SHAPES | {"use"}:
            element.ignored(f"'{link[:60]}' is no group or shape of this file")
            return
        shift = np.array(
            [[1.0, 0.0, _coordinate(element, "x")], [0.0, 1.0, _coordinate(element, "y")]], dtype=float
        )
        self._uses += 1
        self._element(target, _chained(matrix, shift), chosen, depth + 1)
        self._uses -= 1

    def _shape(self, element: Element, name: str, matrix: Array) -> None:
        maker = {"line": _line, "rect": _rect, "circle": _round, "ellipse": _round}.get(name)
        if maker is not None:
            data = maker(element)
        elif name == "path":
            data = element.attributes.get("d", "")
        else:
            data = _poly(element, name == "polygon")
        _check_path(element, data)
        try:
            lines, curved = self._flattened(data, matrix)
        except (ArithmeticError, ValueError, TypeError, LookupError) as error:
            raise element.fault(f"<{name}>: {error}, expected a shape that svgelements can read") from None
        count = self._walls.add(element.place, lines)
        if count == 0:
            element.ignored("it has no length")
        elif curved:
            element.approximated(f"curves become chords within {self._walls.tolerance:g} m")
        if any(key in element.attributes for key in ("clip-path", "mask")):
            element.approximated("clipping and masks have no effect")

    def _flattened(self, data: str, matrix: Array) -> tuple[list[Array], bool]:
        """Returns the polylines of path data in metres, and whether it has curves."""
        import svgelements

        lines: list[list[Array]] = []
        curved = False
        for segment in svgelements.Path(data):
            if isinstance(segment, svgelements.Move):
                lines.append([])
                continue
            parts: list[Any] = [segment]
            if isinstance(segment, svgelements.Arc) and segment.rx > 0 and segment.ry > 0:
                parts = list(segment.as_cubic_curves())
            for part in parts:
                names = ("start", "control", "control1", "control2", "end")
                corners = [getattr(part, key) for key in names if getattr(part, key, None) is not None]
                points = np.array([[corner.x, corner.y] for corner in corners], dtype=float)
                points = points @ matrix[:, :2].T + matrix[:, 2]
                curved = curved or len(points) > 2
                lines[-1].append(flattened(points, self._walls.tolerance))
        return [np.concatenate(line) for line in lines if line], curved


def _hidden(element: Element) -> bool:
    style = re.sub(r"\s", "", element.attributes.get("style", ""))
    return (
        element.attributes.get("display") == "none"
        or element.attributes.get("visibility") in ("hidden", "collapse")
        or re.search(r"(^|;)(display:none|visibility:(hidden|collapse))(;|$)", style) is not None
    )


def _transform(element: Element) -> Array:
    text = element.attributes.get("transform", "")
    if not text.strip():
        return np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    position = 0
    while text[position:].strip(" ,\t\r\n"):
        match = _FUNCTION.match(text, position)
        if match is None or len(text) > 10_000 or re.sub(_NUMBER, " ", match[2]).strip(" ,\t\r\n"):
            raise element.fault(
                f"transform: found '{text[position : position + 40]}', expected matrix, translate, scale, rotate, skewX"
                " or skewY with numbers"
            )
        position = match.end()
    import svgelements

    try:
        found = svgelements.Matrix(text)
        values = [float(getattr(found, key)) for key in "acebdf"]
    except (ValueError, TypeError, IndexError) as error:
        raise element.fault(f"transform: found '{text[:60]}': {error}") from None
    element.numbers(" ".join(map(repr, values)), 6)
    return np.array(values).reshape(2, 3)


def _line(element: Element) -> str:
    x1, y1, x2, y2 = (_coordinate(element, key) for key in ("x1", "y1", "x2", "y2"))
    return f"M {x1!r} {y1!r} L {x2!r} {y2!r}"


def _rect(element: Element) -> str:
    x, y, width, height = (_coordinate(element, key) for key in ("x", "y", "width", "height"))
    if width < 0 or height < 0:
        raise element.fault("found a size below 0, expected one above")
    rx, ry = _coordinate(element, "rx", -1.0), _coordinate(element, "ry", -1.0)
    rx, ry = (ry if rx < 0 else rx), (rx if ry < 0 else ry)
    rx, ry = min(max(rx, 0.0), width / 2), min(max(ry, 0.0), height / 2)
    if rx == 0 or ry == 0:
        return f"M {x!r} {y!r} h {width!r} v {height!r} h {-width!r} z"
    arc = f"a {rx!r} {ry!r} 0 0 1"
    return (
        f"M {x + rx!r} {y!r} h {width - 2 * rx!r} {arc} {rx!r} {ry!r} v {height - 2 * ry!r} {arc} {-rx!r} {ry!r}"
        f" h {2 * rx - width!r} {arc} {-rx!r} {-ry!r} v {2 * ry - height!r} {arc} {rx!r} {-ry!r} z"
    )


def _round(element: Element) -> str:
    x, y, both = (_coordinate(element, key) for key in ("cx", "cy", "r"))
    rx, ry = _coordinate(element, "rx", both), _coordinate(element, "ry", both)
    if rx < 0 or ry < 0:
        raise element.fault("found a radius below 0, expected one above")
    if rx == 0 or ry == 0:
        return ""
    arc = f"a {rx!r} {ry!r} 0 1 1"
    return f"M {x - rx!r} {y!r} {arc} {2 * rx!r} 0 {arc} {-2 * rx!r} 0 z"


def _poly(element: Element, closed: bool) -> str:
    values = element.numbers(element.attributes.get("points", "").replace(",", " "))
    if len(values) % 2:
        raise element.fault(f"points: found {len(values)} numbers, expected pairs")
    return "M " + " ".join(map(repr, values)) + (" z" if closed else "") if values else ""


def _check_path(element: Element, data: str) -> None:
    """Raises if path data does not follow the grammar of SVG 1.1, because svgelements stops at a mistake silently."""
    position, command, count = _skipped(data, 0), "", 0
    number, flag = re.compile(_NUMBER), re.compile("[01]")
    while position < len(data):
        letter = data[position]
        if letter.isalpha():
            needed = _ARGUMENTS.get(letter.lower())
            if needed is None or (not command and letter not in "mM") or not _whole(command, count):
                raise _path_fault(element, data, position)
            command, count = letter, 0
            position = _skipped(data, position + 1)
            continue
        is_flag = command in ("a", "A") and count % 7 in (3, 4)
        match = (flag if is_flag else number).match(data, position)
        if match is None or command in ("", "z", "Z"):
            raise _path_fault(element, data, position)
        value = float(match[0])
        if not (math.isfinite(value) and abs(value) < 1e9):
            raise _path_fault(element, data, position)
        count += 1
        position = _skipped(data, match.end())
    if not _whole(command, count):
        raise _path_fault(element, data, len(data))


def _skipped(data: str, position: int) -> int:
    match = _SKIP.match(data, position)
    return match.end() if match is not None else position


def _whole(command: str, count: int) -> bool:
    """Returns whether a command has all its numbers."""
    needed = _ARGUMENTS.get(command.lower(), 0)
    return count == 0 if needed == 0 else count > 0 and count % needed == 0


def _path_fault(element: Element, data: str, position: int) -> Exception:
    return element.fault(f"d: found '{data[position : position + 20]}' at {position}, expected path data")
