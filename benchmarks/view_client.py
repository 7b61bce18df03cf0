"""A browser that draws nothing: python benchmarks/view_client.py URL [--stall]

Says that it has a camera, as a page does, prints "there", and takes all that is sent; with --stall it reads nothing
more. It ends with its standard input.
"""

from __future__ import annotations

import sys
import threading

import msgspec
import viser
from websockets.sync.client import connect

CAMERA = {
    "type": "ViewerCameraMessage",
    "wxyz": (1.0, 0.0, 0.0, 0.0),
    "position": (0.0, 0.0, 5.0),
    "fov": 1.0,
    "near": 0.1,
    "far": 100.0,
    "image_height": 600,
    "image_width": 800,
    "look_at": (0.0, 0.0, 0.0),
    "up_direction": (0.0, 0.0, 1.0),
}


def main(url: str, stalls: bool) -> None:
    protocol = f"viser-v{viser.__version__}"
    with connect(url.replace("http", "ws", 1), subprotocols=[protocol], max_size=None, proxy=None) as page:
        page.send(msgspec.msgpack.encode(CAMERA))
        print("there", flush=True)
        if not stalls:
            threading.Thread(target=lambda: [None for _ in page], daemon=True).start()
        sys.stdin.read()


main(sys.argv[1], "--stall" in sys.argv)
