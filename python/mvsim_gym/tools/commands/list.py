"""`mvsim-gym list`."""

from __future__ import annotations

HELP = "show the environments and their files"


def run() -> None:
    from mvsim_gym.registration import CUSTOM_ID, listing

    environments = {**listing(), CUSTOM_ID: "any environment file: env=PATH"}
    width = max(map(len, environments))
    for id, path in environments.items():
        print(f"{id:{width}}  {path}")
