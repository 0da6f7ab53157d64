"""A language model of two megabytes in GGUF, llama.cpp's format: one layer that adds nothing, and a table of what follows.

The residual stream is the embedding of the last token. Each token of an answer has a direction of its own there, and the
output matrix maps it to the token after it; the template ends the prompt with one token for a person's turn and another
for a tool's. So the answers are known, and everything else (tokens, template, sampling, grammar, streaming, the parsing of
tool calls) is llama.cpp's own work.
"""

from __future__ import annotations

import re
import struct
from array import array
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

WIDTH = 64
CALL, SAY, END = "<|call|>", "<|say|>", "<|im_end|>"
NORMAL, UNKNOWN, CONTROL, WRITTEN, BYTE = 1, 2, 3, 4, 6  # kinds of tokens
TEXT, UINT, INT, FLOAT, BOOL, LIST = 8, 4, 5, 6, 7, 9  # kinds of values

TEMPLATE = """\
{%- if tools %}<|im_start|>system
{% if messages[0].role == 'system' %}{{ messages[0].content }}{% endif %}
For each call, write a JSON object with its name and arguments between <tool_call></tool_call>:
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call>
The tools:
{%- for tool in tools %}
{{ tool | tojson }}
{%- endfor %}<|im_end|>
{% elif messages[0].role == 'system' %}<|im_start|>system
{{ messages[0].content }}<|im_end|>
{% endif %}
{%- for message in messages %}
{%- if message.role == 'user' %}<|im_start|>user
{{ message.content }}<|im_end|>
{% elif message.role == 'tool' %}<|im_start|>user
<tool_response>
{{ message.content }}
</tool_response><|im_end|>
{% elif message.role == 'assistant' %}<|im_start|>assistant
{% if message.content %}{{ message.content }}{% endif %}
{%- if message.tool_calls %}{% for tool_call in message.tool_calls %}
{%- if tool_call.function %}{% set tool_call = tool_call.function %}{% endif %}
<tool_call>
{"name": "{{ tool_call.name }}", "arguments": {{ tool_call.arguments | tojson }}}
</tool_call>{% endfor %}{% endif %}<|im_end|>
{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{{ '<|say|>' if messages[-1].role == 'tool' else '<|call|>' }}{% endif %}"""


def write_model(path: Path, *, call: str, words: Sequence[str]) -> None:
    answers = [*words]
    tokens: list[tuple[str, int]] = [("<unk>", UNKNOWN), ("<s>", CONTROL), (END, CONTROL), ("<|im_start|>", CONTROL)]
    tokens += [(CALL, CONTROL), (SAY, CONTROL), (call, WRITTEN), *((word, WRITTEN) for word in answers)]
    chain = [(4, 6), (6, 2), *zip((5, *range(7, 6 + len(answers))), range(7, 7 + len(answers)), strict=True)]
    chain.append((6 + len(answers), 2))
    tokens += [(f"<0x{number:02X}>", BYTE) for number in range(256)]
    known = {text for text, _ in tokens}
    tokens += [(text, NORMAL) for text in _common() if text not in known]
    embeddings = array("f", bytes(4 * WIDTH * len(tokens)))
    output = array("f", bytes(4 * WIDTH * len(tokens)))
    for token in range(len(tokens)):
        embeddings[token * WIDTH + WIDTH - 1] = 1.0  # all tokens of a prompt look the same
    for direction, (token, following) in enumerate(chain):
        embeddings[token * WIDTH + WIDTH - 1] = 0.0
        embeddings[token * WIDTH + direction] = 1.0
        output[following * WIDTH + direction] = 20.0
    ones, square = array("f", [1.0] * WIDTH), array("f", bytes(4 * WIDTH * WIDTH))
    tensors: dict[str, tuple[array[float], tuple[int, ...]]] = {
        "token_embd.weight": (embeddings, (WIDTH, len(tokens))),
        "output_norm.weight": (ones, (WIDTH,)),
        "output.weight": (output, (WIDTH, len(tokens))),
        "blk.0.attn_norm.weight": (ones, (WIDTH,)),
        "blk.0.ffn_norm.weight": (ones, (WIDTH,)),
    }
    for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"):
        tensors[f"blk.0.{name}.weight"] = (square, (WIDTH, WIDTH))
    scores = array("f", [-float(number) for number in range(len(tokens))])
    values: list[tuple[str, bytes]] = [
        ("general.architecture", _value(TEXT, "llama")),
        ("general.name", _value(TEXT, "tiny")),
        ("llama.context_length", _value(UINT, 65536)),
        ("llama.embedding_length", _value(UINT, WIDTH)),
        ("llama.block_count", _value(UINT, 1)),
        ("llama.feed_forward_length", _value(UINT, WIDTH)),
        ("llama.attention.head_count", _value(UINT, 1)),
        ("llama.attention.head_count_kv", _value(UINT, 1)),
        ("llama.attention.layer_norm_rms_epsilon", _value(FLOAT, 1e-5)),
        ("llama.rope.dimension_count", _value(UINT, WIDTH)),
        ("llama.vocab_size", _value(UINT, len(tokens))),
        ("tokenizer.ggml.model", _value(TEXT, "llama")),
        ("tokenizer.ggml.tokens", _list(TEXT, [_text(text) for text, _ in tokens])),
        ("tokenizer.ggml.scores", _list(FLOAT, [struct.pack("<f", score) for score in scores])),
        ("tokenizer.ggml.token_type", _list(INT, [struct.pack("<i", kind) for _, kind in tokens])),
        ("tokenizer.ggml.bos_token_id", _value(UINT, 1)),
        ("tokenizer.ggml.eos_token_id", _value(UINT, 2)),
        ("tokenizer.ggml.unknown_token_id", _value(UINT, 0)),
        ("tokenizer.ggml.add_bos_token", _value(BOOL, 1)),
        ("tokenizer.ggml.add_space_prefix", _value(BOOL, 0)),
        ("tokenizer.chat_template", _value(TEXT, TEMPLATE)),
    ]
    _write(path, values, tensors)


def _common() -> list[str]:
    """Words of our documentation with all their beginnings, so that a long prompt has few tokens; and single letters."""
    pages = (Path(__file__).parents[3] / "docs").glob("*.md")
    counted = Counter(
        word for page in pages for word in re.findall(r" ?[A-Za-z_]{2,}", page.read_text(encoding="utf-8"))
    )
    letters = [chr(code) for code in range(33, 127)]
    found = dict.fromkeys(["▁", *letters, *("▁" * count for count in (2, 4, 8)), *(f"▁{each}" for each in letters)])
    for word, _ in counted.most_common(2500):
        spelt = word.replace(" ", "▁")
        found.update(dict.fromkeys(spelt[:end] for end in range(2, len(spelt) + 1)))
    return list(found)


def _text(text: str) -> bytes:
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def _value(kind: int, value: str | int | float) -> bytes:
    if isinstance(value, str):
        return struct.pack("<I", kind) + _text(value)
    return struct.pack("<I", kind) + struct.pack({UINT: "<I", FLOAT: "<f", BOOL: "<?"}[kind], value)


def _list(kind: int, items: Sequence[bytes]) -> bytes:
    return struct.pack("<IIQ", LIST, kind, len(items)) + b"".join(items)


def _write(
    path: Path, values: list[tuple[str, bytes]], tensors: dict[str, tuple[array[float], tuple[int, ...]]]
) -> None:
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(values))
    head += b"".join(_text(name) + value for name, value in values)
    data = b""
    for name, (numbers, shape) in tensors.items():
        head += _text(name) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", side) for side in shape)
        head += struct.pack("<IQ", 0, len(data))  # 32-bit floats
        raw = numbers.tobytes()
        data += raw + bytes(-len(raw) % 32)
    path.write_bytes(head + bytes(-len(head) % 32) + data)
