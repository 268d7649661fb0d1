"""Read Keras's JSON of a model as a graph of layers, and write graphs as JSON, in every dialect.

Start at `graph_to_and_from_json`; its value is `graph`. Nothing outside this folder knows how an architecture is
spelled; what a layer computes is not known here.
"""

from unnest.core.architecture.automatic_names import snake_case
from unnest.core.architecture.graph import is_model
from unnest.core.architecture.graph_to_and_from_json import (
    NotAGraph,
    children,
    entry_name,
    first_at_ends,
    functional,
    is_broken_model,
    is_input,
    layer_name,
    model_name,
    read,
    replace_children,
)
from unnest.core.architecture.model_json_as_saved_alone import as_saved_at_top_level

__all__ = [
    "NotAGraph",
    "as_saved_at_top_level",
    "children",
    "entry_name",
    "first_at_ends",
    "functional",
    "is_broken_model",
    "is_input",
    "is_model",
    "layer_name",
    "model_name",
    "read",
    "replace_children",
    "snake_case",
]
