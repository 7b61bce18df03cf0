"""Identification: a robot of unknown radius, track, mass, inertia, friction and delay from a log of 30 s."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from figure import ROOT, Row, Settings, figure


@figure("identify_s")
def identify_s(settings: Settings) -> Row:
    """The fit alone, of six parameters with its global stage, intervals and held-out errors."""
    from mvsim_gym.identify import Robot, identify

    sys.path.insert(0, str(ROOT / "tests" / "python"))
    from identify_logs import SKID, driven

    true = {"wheel_radius": 0.104, "track": 0.35, "mass": 12.5, "inertia": 0.30, "mu": 0.40, "delay": 0.02}
    seconds = 5.0 if settings.quick else 30.0
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "skid.vehicle.xml"
        path.write_text(SKID)
        with Robot(str(path)) as robot:
            log = driven(robot, true, 0, seconds)
            for _ in range(1 if settings.quick else 3):
                began = time.perf_counter()
                identify(robot, [log], list(true), threads=settings.threads)
                runs.append(time.perf_counter() - began)
    return Row(
        "identify_s", "s", {"log_s": seconds, "parameters": len(true), "threads": settings.threads}, runs
    )
