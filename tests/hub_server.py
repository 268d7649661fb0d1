"""A Hugging Face Hub on this machine's loopback: as much of its API as `huggingface_hub`'s file system asks for.

(Source: the requests of huggingface_hub 2.4, and https://huggingface.co/docs/hub/api.)
"""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any, ClassVar
from urllib.parse import parse_qs, unquote, urlsplit

Files = dict[str, bytes]
#: The name of every commit.
OID = "1" * 40


class _Hub(BaseHTTPRequestHandler):
    """Repositories by name, each with its files by path."""

    repositories: ClassVar[dict[str, Files]] = {}
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Nothing on the terminal of a test."""

    def _answer(
        self, value: object, status: int = 200, headers: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, text)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _missing(self, code: str = "EntryNotFound") -> None:
        self._answer({"error": "not found"}, 404, {"X-Error-Code": code})

    def _path(self) -> list[str]:
        return [unquote(part) for part in urlsplit(self.path).path.strip("/").split("/")]

    def do_HEAD(self) -> None:
        """As GET, without the content."""
        self.do_GET()

    def do_GET(self) -> None:
        """About a repository, its tree, or a file or a range of it."""
        parts = self._path()
        is_api = parts[:2] == ["api", "models"]
        name = "/".join(parts[2:4] if is_api else parts[:2])
        files = self.repositories.get(name)
        if files is None:
            self._missing("RepoNotFound")
        elif is_api and parts[4:5] == ["tree"]:
            self._answer([_entry(path, files) for path in _paths(files, "/".join(parts[6:]))])
        elif is_api:
            self._answer(
                {"id": name, "sha": OID, "siblings": [{"rfilename": path} for path in files]}
            )
        else:
            self._content(files.get("/".join(parts[4:])))

    def _content(self, data: bytes | None) -> None:
        if data is None:
            self._missing()
            return
        headers = {"ETag": f'"{_oid(data)}"', "X-Repo-Commit": OID, "Accept-Ranges": "bytes"}
        asked = self.headers.get("Range")
        if asked is None:
            self._answer(data, 200, headers)
            return
        start, _, end = asked.removeprefix("bytes=").partition("-")
        piece = data[int(start) : int(end or len(data)) + 1]
        self._answer(
            piece,
            206,
            {
                "Content-Range": f"bytes {start}-{int(start) + len(piece) - 1}/{len(data)}",
                **headers,
            },
        )

    def do_POST(self) -> None:
        """Answer for the paths below some folders, for how a file is sent, and for a commit."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        parts = self._path()
        if parts[:1] == ["api"] and parts[2:3] == ["create"]:
            self._answer({"url": "http://127.0.0.1/x"})
            return
        files = self.repositories.get("/".join(parts[2:4]))
        if files is None:
            self._missing("RepoNotFound")
        elif parts[4] == "paths-info":
            asked = json.loads(body)["paths"] if body[:1] == b"{" else _form_paths(body)
            every = {path for file in files for path in _parents(file)}
            self._answer([_entry(path, files) for path in asked if path in every])
        elif parts[4] == "preupload":
            asked = [f["path"] for f in json.loads(body)["files"]]
            self._answer(
                {
                    "files": [
                        {"path": p, "uploadMode": "regular", "shouldIgnore": False} for p in asked
                    ]
                }
            )
        else:
            for line in map(json.loads, body.splitlines()):
                if line["key"] == "file":
                    files[line["value"]["path"]] = base64.b64decode(line["value"]["content"])
                elif line["key"] == "deletedFile":
                    files.pop(line["value"]["path"], None)
            self._answer(
                {
                    "commitUrl": f"http://{self.headers['Host']}/{parts[2]}/{parts[3]}/commit/{OID}",
                    "commitOid": OID,
                    "hookOutput": "",
                }
            )


def _form_paths(body: bytes) -> list[str]:
    return parse_qs(body.decode())["paths"]


def _oid(data: bytes) -> str:
    return hashlib.sha1(data).hexdigest()  # noqa: S324 - as git names blobs


def _parents(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(1, len(parts) + 1)]


def _paths(files: Files, folder: str) -> list[str]:
    """Return the paths right below a folder."""
    start = f"{folder}/" if folder else ""
    return sorted(
        {start + path[len(start) :].split("/")[0] for path in files if path.startswith(start)}
    )


def _entry(path: str, files: Files) -> dict[str, Any]:
    if path not in files:
        return {"type": "directory", "path": path, "oid": OID}
    return {"type": "file", "path": path, "size": len(files[path]), "oid": _oid(files[path])}


@contextmanager
def served(repositories: dict[str, Files]) -> Iterator[str]:
    """The address of a Hub that has these repositories, and keeps what is committed in them."""
    handler = type("Hub", (_Hub,), {"repositories": repositories})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
