"""URIs of documents and the paths they name, both ways. Windows drives are told by their form, not by the machine."""

import re
from functools import lru_cache
from urllib.parse import SplitResult, quote, unquote, urlsplit

_DRIVE = re.compile(r"^/?([A-Za-z])(:|%3[Aa])(?=/|$)")
_SAFE = "/!$&'()*+,;=:@-._~"


def split(uri: str) -> SplitResult:
    """The parts of a URI; what is none, such as `http://[`, is all path."""
    try:
        return urlsplit(uri)
    except ValueError:
        return SplitResult("", "", uri, "", "")


def path_of(uri: str) -> str | None:
    """The file a `file:` URI names, or None for anything else (untitled:, assent:, git: …)."""
    parts = split(uri)
    if parts.scheme.lower() != "file":
        return None
    path = unquote(parts.path, errors="surrogateescape")
    if parts.query:  # a client that does not escape `?` still means a file name
        path += "?" + unquote(parts.query, errors="surrogateescape")
    if parts.fragment:
        path += "#" + unquote(parts.fragment, errors="surrogateescape")
    if parts.netloc and parts.netloc.lower() != "localhost":
        return "//" + parts.netloc + path
    drive = _DRIVE.match(path)
    if drive:
        return drive[1].lower() + ":" + (path[drive.end() :] or "/")
    return path or "/"


def notebook_of(uri: str) -> str | None:
    """The notebook file a cell's URI belongs to, or None for what is no cell."""
    parts = split(uri)
    return unquote(parts.path, errors="surrogateescape") if "notebook-cell" in parts.scheme.lower() else None


def uri_of(path: str) -> str:
    """The `file:` URI of an absolute path."""
    raw = path.replace("\\", "/") if re.match(r"^[A-Za-z]:[\\/]|^\\\\", path) else path
    if raw.startswith("//") and not raw.startswith("///"):
        host, _, rest = raw[2:].partition("/")
        return "file://" + host + "/" + _quoted(rest)
    drive = _DRIVE.match(raw)
    if drive:
        return "file:///" + drive[1].lower() + "%3A" + _quoted(raw[drive.end() :])
    return "file://" + _quoted(raw)


@lru_cache(maxsize=1024)
def same_document(uri: str) -> str:
    """A form under which two spellings of one document's URI are equal: what stores are keyed by."""
    path = path_of(uri)
    return uri if path is None else uri_of(path)


def _quoted(path: str) -> str:
    return quote(path.encode("utf-8", "surrogateescape"), safe=_SAFE)
