"""Where the package's own data lies: the folder that holds `envs/` and `worlds/`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import mvsim_gym


@cache
def assets() -> str:
    """The data folder: of the checkout for an editable install, else the one that was installed."""
    checkout = Path(__file__).resolve().parents[2]
    for folder in (checkout, *(Path(place) / "assets" for place in mvsim_gym.__path__)):
        if (folder / "envs").is_dir() and (folder / "worlds").is_dir():
            return str(folder)
    raise FileNotFoundError("mvsim_gym is not installed as a whole: its folders envs and worlds are missing")
