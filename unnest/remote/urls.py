"""URLs in the place of paths: what is one, and how it is shown, without user, password and query."""

from __future__ import annotations

import os
import re

from unnest.errors import UsageError

URL = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
#: A whole repository of the Hugging Face Hub, which is a folder: `hf://user/repo`, of models or of something else.
REPOSITORY = re.compile(
    r"hf://(?:(?:datasets|spaces|models)/)?(?!datasets/|spaces/|models/)[^/?]+/[^/?]+",
    re.IGNORECASE,
)
#: Names for this machine's own files; fsspec takes what follows for a path, and one that starts here for one from here.
OWN = re.compile(r"(?:file|local)://", re.IGNORECASE)


def without_file_scheme(path: str) -> str:
    """Return the local path for a file:// URL; any other path or URL unchanged."""
    return OWN.sub("", path, count=1) if OWN.match(path) else path


def is_repository(path: str) -> bool:
    """True for the URL of a whole repository of the Hub, without a slash at its end."""
    return REPOSITORY.fullmatch(path) is not None


def with_repository_slash(path: str) -> str:
    """Return an input's path as a walk takes it: a repository of the Hub is a folder, its URL ends with a slash."""
    return f"{path}/" if is_repository(path) else path


def path_text(path: str | bytes | os.PathLike[str]) -> str:
    """Return a path as the caller spelled it; the local path of a `file://` URL.

    Raises:
        UsageError: the path contains a null byte.

    """
    text = os.fsdecode(path)
    if "\0" in text:
        raise UsageError(
            "usage", f"{text.partition(chr(0))[0]}: a null byte follows, which no path can hold"
        )
    return without_file_scheme(text)


def is_remote(path: str) -> bool:
    """Return True if a path is a URL."""
    return URL.match(path) is not None


def safe_url(url: str) -> str:
    """Return the URL without its secrets: user and password, and the query (signatures). A path stays as it is."""
    if not is_remote(url):
        return url
    # Only for URLs: it takes part of every start otherwise.
    from urllib.parse import urlsplit, urlunsplit

    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def default_output(url: str, name: str) -> str:
    """Return the URL of the default output: beside the input, in its store."""
    from urllib.parse import urlsplit, urlunsplit

    parts = urlsplit(url)
    return urlunsplit((*parts[:2], parts.path.rstrip("/").rpartition("/")[0] + "/" + name, "", ""))


def without_credentials(text: str) -> str:
    """Return a message without credentials in the URLs that it names."""
    return re.sub(r"(\b[a-z][a-z0-9+.-]+://)(?:[^/\s@]*@)?([^\s?]*)(?:\?\S*)?", r"\1\2", text)
