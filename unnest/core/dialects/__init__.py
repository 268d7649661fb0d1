"""Keras JSON <-> graph. Nothing outside this folder knows how an architecture is spelled."""

from unnest.core.dialects.models import (
    NotAGraph,
    ShapesUnknown,
    children,
    first_at_ends,
    functional,
    is_input,
    is_model,
    model_name,
    read,
    replace_children,
    sequential_as_functional,
)
from unnest.core.dialects.tidy import tidy

__all__ = [
    "NotAGraph",
    "ShapesUnknown",
    "children",
    "first_at_ends",
    "functional",
    "is_input",
    "is_model",
    "model_name",
    "read",
    "replace_children",
    "sequential_as_functional",
    "tidy",
]
