"""The objects of a SavedModel that was cut: what serves, and no optimizer."""

from __future__ import annotations

import pytest

from tests.corpus.unpacked import FIXTURES
from unnest.formats.tensorflow import cut_serving_graph, protobuf_messages, unwrap_meta_graph
from unnest.formats.tensorflow.keep_serving_objects import OPTIMIZER_KIND

SAVED = FIXTURES / "saved_model"


@pytest.mark.parametrize(
    "name", ["tf20/saved_model-official-named-adam", "tf23/saved_model-official-named-adam"]
)
def test_no_object_stands_where_the_optimizer_was(name: str) -> None:
    """TensorFlow 2.0 to 2.3 restore the slots of whatever has the path of the optimizer, and fail where they cannot."""
    path = SAVED / name / "parallel" / "saved_model.pb"
    model = protobuf_messages.parse("SavedModel", path.read_bytes(), str(path))
    (meta,) = model.meta_graphs
    assert [n.user.identifier for n in meta.objects.nodes].count(OPTIMIZER_KIND) == 1
    variables = sum(n.WhichOneof("kind") == "variable" for n in meta.objects.nodes)
    assert unwrap_meta_graph.cut_out_wrappers(meta, str(path)).wrappers
    (reduced,) = protobuf_messages.parse(
        "SavedModel", protobuf_messages.dump(cut_serving_graph.prune(model, meta)), "reduced"
    ).meta_graphs
    nodes = reduced.objects.nodes
    assert OPTIMIZER_KIND not in {n.user.identifier for n in nodes}
    assert not any(c.local_name == OPTIMIZER_KIND for n in nodes for c in n.children)
    assert 0 < sum(n.WhichOneof("kind") == "variable" for n in nodes) < variables
