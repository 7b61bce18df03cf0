"""Hostile pages and hostile worlds in headless Chromium: a page of another server gets nothing of a view, and names of
a world stay text in its own page. Skipped where there is no Chromium."""

from __future__ import annotations

import http.server
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit
from xml.sax.saxutils import quoteattr

import numpy as np
import pytest
import test_cameras
from browser import WHY_NOT, browser, wait_for
from conftest import DATA

import mvsim_gym

pytest.importorskip("viser", reason="needs the extra 'view'")
pytest.importorskip("selenium", reason="needs selenium")
import viser

from mvsim_gym.tools.launch import status
from mvsim_gym.tools.teleop import Teleop

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)]

YARD = str(DATA / "yard.world.xml")
ENV = "mvsim/NavArena-v0"

_HOSTILE = """<!doctype html><title>hostile</title><iframe id="frame" src="{url}"></iframe><script>
window.told = [];
const tell = text => window.told.push(text);
for (const name of ["127.0.0.1", "localhost", "[::1]"]) {{
  const place = name + ":{port}";
  const socket = new WebSocket("ws://" + place + "/{query}", ["{protocol}"]);
  socket.binaryType = "arraybuffer";
  socket.onopen = () => {{ tell("open " + place); socket.send(new Uint8Array([0x81, 0xa4])); }};
  socket.onmessage = () => tell("message " + place);
  socket.onclose = () => tell("closed " + place);
  fetch("http://" + place + "/{query}").then(
    answer => answer.text().then(text => tell("read " + text.length)), () => tell("no answer " + place));
}}
</script>"""


@contextmanager
def foreign_server(page: str = "") -> Iterator[tuple[str, list[str]]]:
    """Another web site of this machine: its address, and the paths that it was asked for."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()


@pytest.mark.parametrize("has_token", [False, True])
def test_a_page_of_another_site_gets_nothing_of_a_view(has_token: bool) -> None:
    """Not even one that has the token; and a link to a view does not make its page talk to another server."""
    with mvsim_gym.World(YARD).view(port=0, token=has_token) as view:
        parts = urlsplit(view.url)
        query = f"?{parts.query}" if has_token else ""
        protocol = f"viser-v{viser.__version__}"
        hostile = _HOSTILE.format(url=view.url, port=parts.port, query=query, protocol=protocol)
        with foreign_server(hostile) as (site, asked), browser(site) as seen:
            told = wait_for(lambda: len(t := seen.driver.execute_script("return window.told")) >= 6 and t, 60)
            assert {text.split()[0] for text in told} == {"closed", "no"}, told
            time.sleep(1)
            seen.driver.switch_to.frame("frame")
            assert "Connected" not in seen.driver.find_element("tag name", "body").text
            assert not seen.driver.find_elements("id", "root"), "it cannot be clicked through a frame"
            seen.driver.switch_to.default_content()
            assert not view.is_watched
            asked.clear()
            seen.driver.get(f"http://127.0.0.1:{parts.port}/?websocket={site.replace('http', 'ws')}")
            assert "found 'websocket' in the address" in seen.driver.page_source
            time.sleep(1)
            assert asked == []


def attacks(site: str) -> list[str]:
    """Returns names that would run a script if a page showed them as HTML or Markdown."""
    script = f"parent.document.title='PWNED';fetch('{site}/script')"
    return [
        f'<iframe srcdoc="<script>{script}</script>"></iframe>',
        f"<img src={site}/img onerror=\"document.title='PWNED'\">",
        f"![x]({site}/markdown) [y](javascript:alert`1`)",
        f"<svg onload=\"document.title='PWNED'\"><script>{script}</script>",
        f"</title></script><script>{script}</script>",
    ]


def assert_is_text(seen: object, asked: list[str]) -> None:
    driver = seen.driver  # type: ignore[attr-defined]
    assert driver.title == "Viser" and asked == []
    found = driver.execute_script(
        "return [...document.querySelectorAll('iframe, script, img, a, svg')].map(e => e.outerHTML)"
    )
    assert not [html for html in found if "PWNED" in html or "/img" in html or "/markdown" in html], found


def test_names_of_a_world_stay_text(tmp_path: Path) -> None:
    with foreign_server() as (site, asked):
        names = attacks(site)
        camera = test_cameras.depth_camera().replace('name="cam"', f"name={quoteattr(names[1])}")
        robots = "".join(
            f"<vehicle name={quoteattr(name)}><init_pose>{3 * i} 0 0</init_pose>"
            f'<dynamics class="differential"/>{camera if i == 0 else ""}</vehicle>'
            for i, name in enumerate(names)
        )
        blocks = "".join(
            f"<block name={quoteattr('b' + name)}><init_pose>{3 * i} 3 0</init_pose></block>"
            for i, name in enumerate(names)
        )
        file = tmp_path / "w.world.xml"
        file.write_text(f"<mvsim_world>{robots}{blocks}</mvsim_world>")
        world = mvsim_gym.World(file)
        teleop = Teleop(world)
        with world.view(port=0) as view:
            view.controls.begin(1.0)
            with browser(view.url, height=2000) as seen:
                body = seen.driver.find_element("tag name", "body")
                wait_for(lambda: view.is_watched)
                for number in range(len(names)):
                    teleop.press(str(number + 1))
                    selected = teleop.selected
                    assert selected is not None
                    view.controls.choose(selected.name)
                    view.text = status(world, teleop, 1.0)
                    view.controls.say(f"'{selected.name}' cannot be put there")
                    for _ in range(8):
                        world.step(0.05)
                        time.sleep(0.1)
                    assert_is_text(seen, asked)
                    shown = selected.name[:12]
                    wait_for(lambda shown=shown: shown in body.text or world.step(0.05), 20)  # type: ignore[misc]
                assert_is_text(seen, asked)
                assert view._feed.failure is None
                assert len(view._pictures) == 2, "labels of pictures were names too"


def test_what_is_typed_into_a_view_stays_text() -> None:
    """The name of a plotted value is text of one user, shown to all."""
    envs = mvsim_gym.VectorEnv(ENV, num_envs=2)
    envs.reset(seed=0)
    with foreign_server() as (site, asked), envs.view(port=0) as view, browser(view.url, height=2000) as seen:
        wait_for(lambda: view.is_watched)
        view._values_of = lambda name, env: {name: 1.0}  # type: ignore[method-assign]
        body = seen.driver.find_element("tag name", "body")

        def shows(text: str) -> bool:
            envs.step(np.zeros((2, 2), np.float32))
            return text in body.text

        for name in attacks(site):
            view._more.value = name
            wait_for(lambda name=name: shows(name[:12]), 40)  # type: ignore[misc]
            assert_is_text(seen, asked)
    envs.close()
