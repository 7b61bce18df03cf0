"""`mvsim-gym doctor`: a report of this machine for mvsim_gym, with the problems that it finds."""

from __future__ import annotations

import importlib.metadata
import os
import platform

from mvsim_gym import __version__, _core
from mvsim_gym._files import assets
from mvsim_gym.registration import listing

HELP = "show devices, renderer, versions, SIMD level, threads, and what is wrong"
_PACKAGES = ("numpy", "gymnasium", "stable-baselines3", "torch")


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def report() -> tuple[list[str], list[str]]:
    """Returns lines that describe the machine, and problems with their remedies."""
    gl = _core.egl_info()
    lines = [
        f"mvsim_gym {__version__}, Python {platform.python_version()}, {platform.platform()}",
        ", ".join(f"{package} {_version(package)}" for package in _PACKAGES),
        f"data: {assets()} ({len(listing())} environments)",
        f"threads: {len(os.sched_getaffinity(0))} processors for this process, "
        f"{_core.default_threads(2**20)} threads by default for a large batch (the caller's included)",
        f"SIMD level of the lidar: {_core.simd_level()} (of {', '.join(_core.simd_targets())})",
        f"libEGL: {'found' if gl.library_found else 'not found'}",
        *(
            f"  device {d.index}: {d.name}"
            + (f", CUDA {d.cuda_ordinal}" if d.cuda_ordinal >= 0 else "")
            + (f", {d.drm_node}" if d.drm_node else "")
            + (", software" if d.software else "")
            for d in gl.devices
        ),
        *(f"  driver: {path}" for path in gl.driver_files),
        f"pictures: {gl.chosen or 'none can be drawn'}",
    ]
    if gl.renderer:
        lines.append(f"  {gl.renderer}, OpenGL {gl.version}{', by the CPU' if gl.software else ''}")
    problems = list(gl.problems)
    try:
        name, reason = _core.camera_backend("auto")
        lines.append(f"cameras: drawn by '{name}' ({reason}); 3D lidars by 'rays'")
    except ValueError as error:
        problems.append(str(error))
    try:
        lines.append(f'arrays on a GPU: device="cuda:0" is {_core.cuda_device_name(0)}')
    except (ValueError, RuntimeError) as error:
        lines.append(f"arrays on a GPU: none ({error})")
    return lines, problems


def run() -> None:
    lines, problems = report()
    print("\n".join(lines))
    print("\n".join(f"problem: {problem}" for problem in problems) or "nothing is wrong")
