"""Keeps a server's large answers off the pipe: what is too long goes to a file that the answer then names."""

import base64
import contextlib
import mimetypes
import os
from pathlib import Path
from typing import Any, cast

Json = dict[str, Any]
LONGEST_TEXT = 400_000  # characters; the tool's own cap is below
LARGEST_BLOB = 5_000_000  # characters of base64
_PREVIEW = 20_000
MOST_BLOCKS = 500


def trimmed(result: Json, *, folder: str, name: str) -> Json:
    """The result with long texts cut and sound saved. `structuredContent` that is too long is dropped."""
    items = result.get("content") if isinstance(result.get("content"), list) else result.get("contents")
    if isinstance(items, list):
        blocks = cast("list[Json]", items)
        for number, item in enumerate(blocks[:MOST_BLOCKS]):
            holder = item["resource"] if isinstance(item.get("resource"), dict) else item
            _trim(holder, folder, f"{name}-{number + 1}")
        if len(blocks) > MOST_BLOCKS:
            left = {"type": "text", "text": f"[{len(blocks) - MOST_BLOCKS} more parts were left out]"}
            blocks[MOST_BLOCKS:] = [left] if "content" in result else []
    if len(str(result.get("structuredContent", ""))) > LONGEST_TEXT:
        del result["structuredContent"]
    result.pop("_meta", None)
    return result


def trimmed_prompt(result: Json) -> Json:
    """A prompt with as many messages as fit."""
    messages = cast("list[Json]", result.get("messages") or [])
    left = LONGEST_TEXT
    for message in messages[:MOST_BLOCKS]:
        content = cast("Json", message.get("content") or {})
        holder = content["resource"] if isinstance(content.get("resource"), dict) else content
        for field in ("text", "data", "blob"):
            said = holder.get(field)
            if isinstance(said, str):
                holder[field] = said[: left if field == "text" else LARGEST_BLOB]
                left -= len(holder[field]) if field == "text" else 0
    result["messages"] = messages[:MOST_BLOCKS]
    return result


def introduced(info: Json) -> Json:
    """A server's name, title, version and icons; only its name when the rest is far too large."""
    return info if len(str(info)) <= LONGEST_TEXT else {"name": str(info.get("name", ""))[:200]}


def _trim(item: Json, folder: str, name: str) -> None:
    text = item.get("text")
    if isinstance(text, str) and len(text) > LONGEST_TEXT:
        path = _saved(folder, f"{name}.txt", text.encode("utf-8", "replace"))
        where = f"the whole of it is in {path}" if path else "the rest was dropped"
        item["text"] = f"{text[:_PREVIEW]}\n[… {len(text) - _PREVIEW} more characters; {where}]"
    for field in ("data", "blob"):
        data = item.get(field)
        if not isinstance(data, str):
            continue
        kind = str(item.get("mimeType", ""))
        if not kind.startswith("image/") or len(data) > LARGEST_BLOB:
            with contextlib.suppress(ValueError):
                item["savedAs"] = _saved(
                    folder, name + (mimetypes.guess_extension(kind) or ".bin"), base64.b64decode(data)
                )
        if len(data) > LARGEST_BLOB:
            item[field] = ""


def _saved(folder: str, name: str, data: bytes) -> str:
    if not folder:
        return ""
    path = Path(folder) / name
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.write(data)
    except OSError:
        return ""
    return str(path)
