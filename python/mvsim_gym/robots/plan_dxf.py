"""Reads the lines of a DXF drawing, as ezdxf sees them from above."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from mvsim_gym._notices import extra
from mvsim_gym.robots.description import Array
from mvsim_gym.robots.elements import Fate, ImportRobotError
from mvsim_gym.robots.plan_lines import MAX_REACH, MAX_WALLS, UNITS, Walls

_MAX_BYTES = 16 << 20
_MAX_COPIES = 20_000  # of entities, by INSERT
_DEPTH = 20  # of blocks in blocks
_CURVES = ("ARC", "CIRCLE", "ELLIPSE", "SPLINE")
_POLYLINES = ("LWPOLYLINE", "POLYLINE")
_PARTS = ("VERTEX", "ATTRIB", "SEQEND")  # records that belong to the entity before them
_INSUNITS = {"1": "in", "2": "ft", "4": "mm", "5": "cm", "6": "m", "7": "km", "10": "yd", "14": "dm"}


class _Scan:
    """Lines of the records in a DXF file, since ezdxf keeps none."""

    def __init__(self, data: bytes, shown: str) -> None:
        lines = data.decode("latin-1").splitlines()
        self.shown = shown
        self.units = ""
        self.by_handle: dict[str, tuple[int, str]] = {}
        self._nameless: dict[str, deque[int]] = {}
        section, record, line, handle = "", "", 0, ""
        for i in range(0, len(lines) - 1, 2):
            code, value = lines[i].strip(), lines[i + 1].strip()
            if code == "0":
                self._add(section, record, line, handle)
                record, line, handle = value, i + 1, ""
                section = "" if value == "ENDSEC" else section
            elif code == "2" and record == "SECTION" and not section:
                section = value
            elif code == "5" and not handle:
                handle = value.upper()
            elif code == "9" and value == "$INSUNITS" and i + 3 < len(lines):
                self.units = lines[i + 3].strip()

    def _add(self, section: str, record: str, line: int, handle: str) -> None:
        if section == "ENTITIES" and record not in ("SECTION", *_PARTS):
            if handle and handle not in self.by_handle:
                self.by_handle[handle] = (line, record)
            else:
                self._nameless.setdefault(record, deque()).append(line)

    def place(self, entity: Any) -> str:
        """Returns `file:line` of an entity, and takes it from the records that are left."""
        found = self.by_handle.pop(str(entity.dxf.handle).upper(), None)
        if found is not None:
            return f"{self.shown}:{found[0]}"
        lines = self._nameless.get(entity.dxftype())
        return f"{self.shown}:{lines.popleft()}" if lines else self.shown

    def rest(self) -> Iterator[tuple[str, str]]:
        """Yields place and type of the records that no entity has."""
        for line, record in self.by_handle.values():
            yield f"{self.shown}:{line}", record
        for record, lines in self._nameless.items():
            for line in lines:
                yield f"{self.shown}:{line}", record


def read_dxf(path: Path, data: bytes, shown: str, walls: Walls, layers: list[str]) -> list[str]:
    """Adds the lines of a DXF file to `walls`, and returns the names of its layers.

    Args:
        path: the file.
        data: its bytes.
        shown: its name in messages.
        walls: receives the lines and the rows of the table.
        layers: names of layers to use; empty: all that are on and thawed.

    Raises:
        ImportRobotError: the file is damaged, exceeds a limit, or has no unit of length.
    """
    with extra("reading DXF drawings", "robots"):
        from ezdxf.filemanagement import readfile
        from ezdxf.lldxf.const import DXFError

    if len(data) > _MAX_BYTES:
        raise ImportRobotError(f"{shown}: larger than {_MAX_BYTES >> 20} MiB")
    if data.startswith(b"AutoCAD Binary DXF") or b"\0" in data[:4096]:
        raise ImportRobotError(f"{shown}: found a binary file, expected an ASCII DXF")
    scan = _Scan(data, shown)
    try:
        document = readfile(path)
    except (DXFError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
        raise ImportRobotError(f"{shown}: {error}, expected a DXF file") from None
    except (OSError, RecursionError) as error:
        raise ImportRobotError(f"{shown}: {str(error)[:200]}, expected a DXF file") from None
    unit = walls.placement.unit or _INSUNITS.get(scan.units, "")
    if not unit:
        raise ImportRobotError(
            f"{shown}: found the unit '{scan.units or 'none'}' ($INSUNITS), expected --unit, one of {', '.join(UNITS)}"
        )
    reader = _Reader(document, scan, walls, layers, UNITS[unit] * walls.placement.scale)
    for entity in document.modelspace():
        reader.entity(entity, scan.place(entity), "", 0)
    for layout in document.layouts:
        if layout.name != "Model":
            for entity in layout:
                place = scan.place(entity)
                if entity.dxftype() != "VIEWPORT":
                    walls.ignore(place, entity.dxftype(), f"it is on the sheet '{layout.name}'")
    for place, record in scan.rest():
        walls.ignore(place, record, "ezdxf cannot read it")
    return sorted({layer.dxf.name for layer in document.layers} | reader.layers)


class _Reader:
    def __init__(self, document: Any, scan: _Scan, walls: Walls, layers: list[str], scale: float) -> None:
        self._document, self._scan, self._walls = document, scan, walls
        self._chosen = {name.lower() for name in layers}
        self._scale = scale
        self._copies = 0
        self.layers: set[str] = set()

    def entity(self, entity: Any, place: str, block_layer: str, depth: int) -> None:
        """Adds the lines of an entity. Those of a block on layer 0 are on the layer of its INSERT."""
        self._copies += depth > 0
        if self._copies > _MAX_COPIES:
            raise ImportRobotError(f"{place}: more than {_MAX_COPIES} copies of entities by INSERT")
        if depth > _DEPTH:
            raise ImportRobotError(f"{place}: blocks nested deeper than {_DEPTH}")
        kind = entity.dxftype()
        layer = str(_attribute(entity, "layer", "0"))
        layer = block_layer if layer == "0" and block_layer else layer
        self.layers.add(layer)
        if kind != "INSERT" and self._chosen and layer.lower() not in self._chosen:
            self._walls.unchosen.append((Fate.IGNORED, place, kind, "its layer is not chosen"))
            return
        if _attribute(entity, "invisible", 0) or (not self._chosen and self._is_off(layer)):
            self._walls.ignore(place, kind, f"it is invisible, or its layer '{layer}' is off")
            return
        try:
            if kind == "INSERT":
                self._insert(entity, place, layer, depth)
            else:
                self._lines(entity, kind, place)
        except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
            if isinstance(error, ImportRobotError):
                raise
            raise ImportRobotError(
                f"{place}: {kind}: {str(error)[:200]}, expected an entity that ezdxf can draw"
            ) from None

    def _is_off(self, layer: str) -> bool:
        if not self._document.layers.has_entry(layer):
            return False
        found = self._document.layers.get(layer)
        return bool(found.is_off() or found.is_frozen())

    def _insert(self, entity: Any, place: str, layer: str, depth: int) -> None:
        block = entity.block()
        if block is None or block.block is None or block.block.is_xref:
            name = str(entity.dxf.get("name", ""))
            self._walls.ignore(place, "INSERT", f"the block '{name[:60]}' is not in this file")
            return
        if entity.mcount > _MAX_COPIES:
            raise ImportRobotError(f"{place}: more than {_MAX_COPIES} copies of entities by INSERT")
        self._walls.rows.append((Fate.USED, place, "INSERT", ""))

        def skipped(part: Any, reason: str) -> None:
            self._walls.ignore(place, part.dxftype(), f"in a block: {reason[:80]}")

        for single in entity.multi_insert() if entity.mcount > 1 else [entity]:
            for part in single.virtual_entities(skipped_entity_callback=skipped):
                self.entity(part, place, layer, depth + 1)

    def _lines(self, entity: Any, kind: str, place: str) -> None:
        reasons = set()
        if kind == "LINE":
            found = [_array([entity.dxf.start, entity.dxf.end])]
        elif kind in _CURVES:
            found = [self._curve(entity, kind, place)]
        elif kind in _POLYLINES and not (
            kind == "POLYLINE" and (entity.is_poly_face_mesh or entity.is_polygon_mesh)
        ):
            found = []
            for part in islice(entity.virtual_entities(), MAX_WALLS + 1):
                is_arc = part.dxftype() == "ARC"
                found.append(
                    self._curve(part, "ARC", place) if is_arc else _array([part.dxf.start, part.dxf.end])
                )
                reasons |= {self._chords} if is_arc else set()
            if entity.has_width:
                reasons.add("walls have the thickness of --thickness")
        else:
            self._walls.ignore(place, kind, "it is no line, curve or polyline")
            return
        if kind in _CURVES:
            reasons.add(self._chords)
        if any(np.abs(points[:, 2]).max(initial=0.0) * self._scale > 1e-6 for points in found):
            reasons.add("heights have no effect: it is seen from above")
        count = self._walls.add(place, [points[:, :2] * self._scale for points in found])
        self._walls.settle(place, kind, count, "; ".join(sorted(reasons)))

    @property
    def _chords(self) -> str:
        return f"curves become chords within {self._walls.tolerance:g} m"

    def _curve(self, entity: Any, kind: str, place: str) -> Array:
        tolerance = self._walls.tolerance / self._scale
        if kind in ("ARC", "CIRCLE"):
            size = abs(float(entity.dxf.radius))
        elif kind == "ELLIPSE":
            size = float(entity.dxf.major_axis.magnitude)
        else:
            tool = entity.construction_tool()
            size = max((point.magnitude for point in tool.control_points), default=0.0) / 1e3
        if not (math.isfinite(size) and size * self._scale <= MAX_REACH):
            raise ImportRobotError(
                f"{place}: found a curve of {size * self._scale:.6g} m, expected at most {MAX_REACH:g} m"
                " (--unit, --scale)"
            )
        if size == 0:
            return np.zeros((0, 3))
        if kind in ("ARC", "CIRCLE"):
            # more than a third of the radius would no longer show a curve
            points = entity.flattening(min(tolerance, size / 3))
        else:
            points = entity.flattening(tolerance)
        return _array(islice(points, MAX_WALLS + 2))


def _attribute(entity: Any, name: str, default: Any) -> Any:
    """Returns an attribute of an entity, which may be of a type that has none of that name."""
    return entity.dxf.get(name, default) if entity.dxf.is_supported(name) else default


def _array(points: Iterable[Any]) -> Array:
    return np.array([[point.x, point.y, point.z] for point in points], dtype=float).reshape(-1, 3)
