"""Readable facts out of what layers store as code: never executed, never unmarshalled."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from unnest.core.model import Json


@dataclass(frozen=True)
class NodeDef:
    """A TensorFlow operation as an op layer of TF 2.0-2.3 stores it: its kind."""

    op: str


def node_def(text: Json) -> NodeDef | None:
    """The operation in a TensorFlowOpLayer's config: JSON in some versions, protobuf text in others."""
    if not isinstance(text, str):
        return None
    try:
        parsed = json.loads(text)
    except ValueError:
        match = re.search(r'^\s*op:\s*"(\w+)"', text, re.MULTILINE)
        return NodeDef(match[1]) if match else None
    op = parsed.get("op") if isinstance(parsed, dict) else None
    return NodeDef(op) if isinstance(op, str) else None
