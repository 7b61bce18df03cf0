"""The ray kernel alone, on one core: the C++ program scan_kernel measures, this reads what it prints."""

from __future__ import annotations

import json
import subprocess

from figure import ROOT, Row, Settings, figure

PROGRAM = ROOT / "build" / "dev" / "scan_kernel"


@figure("scan_ns_per_ray")
def scan_ns_per_ray(settings: Settings) -> Row:
    """Needs the program built: ./dev bench does that."""
    runs: list[float] = []
    others: dict[str, str] = {}
    for _ in range(settings.runs):
        printed = subprocess.run([str(PROGRAM)], capture_output=True, text=True, check=True).stdout
        for row in map(json.loads, printed.splitlines()):
            if row["name"] == "scan_ns_per_ray":
                runs.append(row["value"])
            else:
                others[row["name"]] = f"{row['value']:g} {row['unit']}"
    config = {
        "work": "2,000 random poses x 360 rays in an 800x800 grid at 5 cm, at most 10 m, one core",
        "best of": "the widest instruction set of this machine",
        "also": others,
    }
    return Row("scan_ns_per_ray", "ns", config, runs)
