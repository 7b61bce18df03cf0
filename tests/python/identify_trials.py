"""Trials of identification: for each log of 30 s a line with the errors of eight parameters.

`python3 tests/python/identify_trials.py SEED...` prints, for each parameter, the error in percent and "!" where the
interval leaves the true value out, then the processor time of the fit.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from identify_logs import SKID, TRUE, driven

from mvsim_gym.identify import Robot, identify


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "skid.vehicle.xml"
        path.write_text(SKID)
        with Robot(str(path)) as robot:
            for seed in map(int, sys.argv[1:]):
                log = driven(robot, TRUE, seed)
                began, wall = time.process_time(), time.perf_counter()
                found = identify(robot, [log], list(TRUE))
                spent, waited = time.process_time() - began, time.perf_counter() - wall
                words = []
                for name, value in TRUE.items():
                    own = found.fitted.get(name)
                    if own is None:
                        words.append(f"{name} untold")
                        continue
                    inside = own.low <= value <= own.high
                    words.append(f"{name} {100 * (own.value / value - 1):+.2f} %" + ("" if inside else " !"))
                print(
                    f"seed {seed}:",
                    ", ".join(words),
                    f"({spent:.0f} s of processor, {waited:.0f} s)",
                    flush=True,
                )


if __name__ == "__main__":
    main()
