"""The ray kernel alone, on one core: the C++ program scan_kernel measures, this reads what it prints."""

from __future__ import annotations

import json
import subprocess

from figure import ROOT, Row, Settings, figure

PROGRAM = ROOT / "build" / "dev" / "scan_kernel"


@figure("scan_ns_per_ray")
def scan_ns_per_ray(settings: Settings) -> Row:
    """Needs the program built: ./dev bench does that."""
    results = []
    for _ in range(settings.runs):
        printed = subprocess.run([str(PROGRAM)], capture_output=True, text=True, check=True).stdout
        results.append(json.loads(printed))
    config = {key: value for key, value in results[-1].items() if key != "scan_ns_per_ray"}
    return Row("scan_ns_per_ray", "ns", config, [result["scan_ns_per_ray"] for result in results])
