"""`mvsim-gym validate`: errors, warnings and contents of world files."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mvsim_gym import _core
from mvsim_gym._files import all_resources, assets, folders_of
from mvsim_gym.tools.options import add_loading, add_worlds

HELP = "check world files: errors, warnings, contents"
DESCRIPTION = (
    "Loads each WORLD and prints its errors and warnings, with lines, and a summary. The exit code is 0"
    " if all of them load, 1 if one does not, 2 for wrong arguments."
)


def add(parser: argparse.ArgumentParser) -> None:
    add_worlds(parser)
    add_loading(parser)


def run(worlds: list[str], **options: Any) -> int:
    """Checks all files, then prints the reports."""
    reports = [validate(world, **options) for world in worlds]
    for report in reports:
        print("\n".join(report.lines()))
    return 1 if any(report.errors for report in reports) else 0


@dataclass
class Report:
    path: str
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    summary: list[str] = field(default_factory=list)
    """Lines about the contents; empty for a world that does not load."""

    def lines(self) -> list[str]:
        if self.errors:
            state = "error"
        else:
            count = len(self.warnings)
            state = "ok" if count == 0 else "1 warning" if count == 1 else f"{count} warnings"
        found = [*(f"error: {text}" for text in self.errors), *(f"warning: {text}" for text in self.warnings)]
        return [f"{self.path}: {state}", *(f"  {line}" for line in [*found, *self.summary])]


def validate(
    path: str, roots: Sequence[str] = (), resources: Mapping[str, str] | None = None, strict: bool = False
) -> Report:
    """Loads a world and places its bodies at their start; makes no step."""
    report = Report(os.fspath(path))
    try:
        model = _core.load_model(
            path, assets(), folders_of(roots), resources=all_resources(resources or {}), strict=strict
        )
        simulation = _core.Simulation(model, 0, 0)
    except (ValueError, OSError) as error:
        report.errors.append(str(error))
        return report
    report.summary = _summary(model)
    try:
        report.warnings = [*model.warnings, *_core.check_start(simulation, strict)]
    except ValueError as error:
        report.errors.append(str(error))
    return report


def _summary(model: _core.Model) -> list[str]:
    lines = [
        f"vehicles   {_list_names([f'{v.name} ({v.dynamics}, {v.controller})' for v in model.vehicles])}",
        f"sensors    {_count_by_kind([s.class_name for s in model.sensors])}",
        f"bodies     {model.body_count}, of them {sum(b.is_static for b in model.blocks)} static",
        f"time step  {model.timestep * 1e3:g} ms",
        f"triangles  {model.triangle_count}",
        f"memory     {model.load_bytes / 2**20:.1f} MiB",
    ]
    if model.actors:
        lines.insert(1, f"actors     {_list_names(model.actors)}")
    return lines


def _list_names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:5])
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"{len(names)}: {shown}{more}" if names else "0"


def _count_by_kind(classes: Sequence[str]) -> str:
    kinds = Counter(classes)
    return f"{len(classes)}" + (": " + ", ".join(f"{n} {name}" for name, n in kinds.items()) if kinds else "")
