"""`mvsim-gym fetch` against a server on the loopback address: the only code of the package that opens a connection."""

from __future__ import annotations

import hashlib
import http.server
import io
import re
import socketserver
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from mvsim_gym import World, WorldFileError
from mvsim_gym.tools import download
from mvsim_gym.tools import fetch as fetching
from mvsim_gym.tools.cli import main
from mvsim_gym.tools.fetch import FetchError, fetch

MAP = b"P2 2 2 255 0 255 255 255"


class Server(http.server.ThreadingHTTPServer):
    content = MAP
    asked: list[str]


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        if self.path == "/absent.pgm":
            return self.send_error(404)
        if self.path.startswith("/moved"):
            self.send_response(302)
            self.send_header("Location", "file:///etc/passwd" if "file" in self.path else "/map.pgm")
            self.end_headers()
            return None
        self.send_response(200)
        self.send_header(
            "Content-Length", str(len(self.server.content) + (9 if self.path == "/cut.pgm" else 0))
        )
        self.end_headers()
        self.wfile.write(self.server.content)
        return None

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("MVSIM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "*")
    with Server(("127.0.0.1", 0), Handler) as server:
        server.asked = []
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def url_of(server: Server, name: str) -> str:
    return f"http://127.0.0.1:{server.server_port}/{name}"


def cached(server: Server, name: str, tmp_path: Path) -> Path:
    return tmp_path / "cache" / "http" / f"127.0.0.1:{server.server_port}" / name


def world_with(tmp_path: Path, url: str) -> str:
    path = tmp_path / "worlds" / "w.world.xml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        f'<mvsim_world><element class="occupancy_grid"><file>{url}</file></element></mvsim_world>'
    )
    return str(path)


def test_a_world_loads_once_its_files_are_fetched(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world = world_with(tmp_path, url_of(server, "map.pgm"))
    with pytest.raises(WorldFileError, match="mvsim-gym fetch WORLD"):
        World(world)
    assert server.asked == []  # loading makes no request
    assert main(["fetch", world]) == 0
    assert "downloaded" in capsys.readouterr().out
    World(world)
    assert main(["fetch", world]) == 0
    assert server.asked == ["/map.pgm"]  # a second time nothing is asked
    file = cached(server, "map.pgm", tmp_path)
    record = file.with_name("map.pgm.sha256").read_text()
    assert file.read_bytes() == MAP and record.split()[0] == hashlib.sha256(MAP).hexdigest()
    assert main(["fetch", "--check", world]) == 0
    assert server.asked == ["/map.pgm"] * 2


def test_a_zip_is_fetched_once_for_all_of_its_members(server: Server, tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for name in ("a.pgm", "maps/b.pgm"):
            file.writestr(name, MAP)
    server.content = packed.getvalue()
    path = Path(world_with(tmp_path, url_of(server, "maps.zip/a.pgm")))
    path.write_text(
        path.read_text().replace(
            "</mvsim_world>",
            f'<element class="elevation_map"><elevation_image>{url_of(server, "maps.zip/maps/b.pgm")}</elevation_image>'
            "</element></mvsim_world>",
        )
    )
    assert main(["fetch", str(path)]) == 0
    assert server.asked == ["/maps.zip"]
    World(path)


def test_what_has_changed_is_refused(server: Server, tmp_path: Path) -> None:
    url = url_of(server, "map.pgm")
    assert fetch(url) == "downloaded"
    server.content = b"P2 1 1 255 0"
    with pytest.raises(FetchError, match="has changed"):
        fetch(url, check=True)
    file = cached(server, "map.pgm", tmp_path)
    assert file.read_bytes() == MAP
    file.write_bytes(b"tampered")
    with pytest.raises(FetchError, match="is not what was downloaded"):
        fetch(url)
    file.unlink()
    with pytest.raises(FetchError, match="has changed"):  # the record outlives the file
        fetch(url)
    server.content = MAP
    assert fetch(url) == "same"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("absent.pgm", "answers 404"),
        ("cut.pgm", "cut|cannot be downloaded"),
        ("moved-to-file.pgm", "not allowed|refused"),
        ("../up.pgm", "is not the URL of a file"),
    ],
)
def test_failures_leave_nothing_behind(server: Server, tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(FetchError, match=message):
        fetch(url_of(server, name))
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []


def test_redirections_and_limits(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert fetch(url_of(server, "moved.pgm")) == "downloaded"
    assert cached(server, "moved.pgm", tmp_path).read_bytes() == MAP  # under the name that was asked for
    monkeypatch.setattr(fetching, "MAX_BYTES", 10)
    with pytest.raises(FetchError, match="more than 10 bytes"):
        fetch(url_of(server, "large.pgm"))
    server.shutdown()
    server.server_close()
    with pytest.raises(FetchError, match="cannot be downloaded"):
        fetch(url_of(server, "gone.pgm"))
    with pytest.raises(FetchError, match="is not the URL"):
        fetch("file:///etc/passwd")


BAD_HTTP = {
    "chunk.png": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n",
        "was cut|cannot be down",
    ),
    "cut-chunk.png": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc", "was cut"),
    "headers.png": (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 300 + b"\r\n", "more than 100 headers"),
    "line.png": (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 70_000 + b"\r\n\r\n", "more than 65536 bytes"),
    "length.png": (b"HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\nabc", "announces the length 'abc'"),
    "less.png": (b"HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\nabc", "announces the length '-3'"),
    "two.png": (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc", "length '3, 4'"),
    "short.png": (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", "cut after 3 of 9 bytes"),
    "huge.png": (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", "has more than"),
    "part.png": (
        b"HTTP/1.1 206 Partial\r\nContent-Length: 3\r\n\r\nabc",
        "answers 206 Partial, expected 200",
    ),
    "nothing.png": (b"HTTP/1.1 204 Nothing\r\n\r\n", "answers 204"),
    "packed.png": (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", "compresses the file as 'gzip'"),
    "silent.png": (b"", "cannot be downloaded: Remote end closed"),
    "junk.png": (b"\x00\x1b[2Jjunk\r\n\r\n", "cannot be downloaded"),
    "status.png": (b"HTTP/1.1 abc OK\r\n\r\n", "cannot be downloaded"),
    "reason.png": (b"HTTP/1.1 500 \x1b[2J\r\n\r\n", "answers 500"),
    "nowhere.png": (b"HTTP/1.1 302 Found\r\n\r\n", "answers 302"),
    "odd.png": (b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:abc/x\r\n\r\n", "cannot be downloaded"),
    "round.png": (b"HTTP/1.1 302 Found\r\nLocation: round.png\r\n\r\n", "answers 302"),
    "wait.png": (b"HTTP/1.1 100 Continue\r\n\r\n" * 50_000, "more than 1048576 bytes besides the file"),
}


class RawHandler(socketserver.StreamRequestHandler):
    """Answers with the bytes of `BAD_HTTP`."""

    def handle(self) -> None:
        name = self.rfile.readline().split()[1].decode().lstrip("/")
        while self.rfile.readline().strip():
            pass
        with suppress(OSError):
            for k in range(1000 if name == "drip.png" else 0):
                self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n" if k == 0 else b"x")
                time.sleep(0.01)
            self.wfile.write(BAD_HTTP.get(name, (b"", ""))[0])


@pytest.fixture
def bad_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setenv("MVSIM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "*")
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), RawHandler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("name", BAD_HTTP)
def test_bad_http_is_one_line(
    bad_server: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert main(["fetch", world_with(tmp_path, f"http://127.0.0.1:{bad_server}/{name}")]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and said[:-1].isprintable(), said
    assert re.search(BAD_HTTP[name][1], said), said
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:abc/x.png", "http://[::1/x.png", "http://a b/x.png", "http:///x.png"]
)
def test_urls_that_are_none_are_one_line(
    bad_server: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], url: str
) -> None:
    assert main(["fetch", world_with(tmp_path, url)]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_a_server_that_is_too_slow_is_left(bad_server: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A byte now and then is not enough."""
    monkeypatch.setattr(download, "_SILENCE", 0.1)
    with pytest.raises(FetchError, match=r"too slow: [1-9]"):
        fetch(f"http://127.0.0.1:{bad_server}/drip.png")


def test_a_link_in_the_cache_is_replaced_and_not_written_through(server: Server, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("precious")
    file = cached(server, "map.pgm", tmp_path)
    file.parent.mkdir(parents=True)
    file.with_name("map.pgm.sha256").symlink_to(precious)
    with pytest.raises(FetchError, match="has changed"):  # its text is taken as the record
        fetch(url_of(server, "map.pgm"))
    precious.write_text("")
    assert fetch(url_of(server, "map.pgm")) == "downloaded"
    assert precious.read_text() == "" and not file.with_name("map.pgm.sha256").is_symlink()


def test_mapped_files_are_not_fetched(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = tmp_path / "models"
    models.mkdir()
    (models / "map.pgm").write_bytes(MAP)
    world = world_with(tmp_path, "https://host.invalid/models/map.pgm")
    mapped = f"https://host.invalid/models/={models}"
    assert main(["fetch", "--resources", mapped, world]) == 0
    assert "mapped" in capsys.readouterr().out and server.asked == []


def test_urls_that_get_in_each_others_way(server: Server, tmp_path: Path) -> None:
    """One file's URL is another's folder or record: what was fetched stays as it is."""
    assert fetch(url_of(server, "map")) == "downloaded"
    with pytest.raises(FetchError, match="cannot be kept in the cache"):
        fetch(url_of(server, "map/inner.pgm"))
    server.content = b"0" * 64
    with pytest.raises(FetchError, match="is kept for records"):
        fetch(url_of(server, "map.sha256"))
    assert fetch(url_of(server, "map")) == "cached"
    record = cached(server, "map", tmp_path).with_name("map.sha256")
    record.write_text("")  # an empty one says nothing
    assert fetch(url_of(server, "map")) == "cached"


def test_a_mesh_sends_fetch_nowhere(server: Server, tmp_path: Path) -> None:
    """A texture that a mesh names by a URL is ignored, without a request."""
    folder = tmp_path / "worlds"
    folder.mkdir()
    (folder / "m.mtl").write_text(f"newmtl a\nmap_Kd {url_of(server, 'secret.png')}\n")
    (folder / "m.obj").write_text(
        "mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nusemtl a\nf 1/1 2/1 3/1\n"
    )
    path = folder / "w.world.xml"
    path.write_text(
        "<mvsim_world><block><init_pose>0 0 0</init_pose><visual><model_uri>m.obj</model_uri></visual></block>"
        "</mvsim_world>"
    )
    assert main(["fetch", str(path)]) == 0
    assert server.asked == []
    assert any("is no file beside the mesh" in warning for warning in World(path).warnings)


@pytest.mark.parametrize("prefix", ["mod", "models"])
def test_a_prefix_ends_between_two_parts(server: Server, tmp_path: Path, prefix: str) -> None:
    models = tmp_path / "models"
    (models / "els").mkdir(parents=True)
    (models / "map.pgm").write_bytes(MAP)
    (models / "els" / "map.pgm").write_bytes(MAP)
    world = world_with(tmp_path, url_of(server, "models/map.pgm"))
    assert main(["fetch", "--resources", f"{url_of(server, prefix)}={models}", world]) == 0
    assert server.asked == ([] if prefix == "models" else ["/models/map.pgm"])
