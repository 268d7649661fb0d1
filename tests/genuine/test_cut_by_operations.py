"""Path-keyed weights of a parallel model whose slices are operations: nothing in the file shows them."""

from __future__ import annotations

from pathlib import Path

import h5py
import pytest

import unnest

HERE = Path(__file__).parent / "cut_by_operations"


def content(path: Path) -> dict[str, object]:
    """Every group's and tensor's path with the name, or the bytes, that it holds."""
    nodes: dict[str, object] = {}

    def note(place: str, node: h5py.Group | h5py.Dataset) -> None:
        nodes[place] = (
            node[()].tobytes() if isinstance(node, h5py.Dataset) else node.attrs.get("name")
        )

    with h5py.File(path) as file:
        file.visititems(note)
    return nodes


@pytest.mark.parametrize("architecture", ["template.json", "parallel.json"])
def test_either_architecture_takes_the_template_out(architecture: str, tmp_path: Path) -> None:
    """The same groups and tensors that Keras writes for the template itself."""
    output = tmp_path / "o.weights.h5"
    result = unnest.fix(HERE / "parallel.weights.h5", output, architecture=HERE / architecture)
    assert (result.verdict, result.action) == ("parallel", "fixed")
    assert [wrapper.template for wrapper in result.wrappers] == ["template"]
    assert content(output) == content(HERE / "template.weights.h5")


@pytest.mark.parametrize(("old", "new"), [("scores", "others"), ('"units": 3', '"units": 4')])
def test_architecture_of_another_model_is_refused(old: str, new: str, tmp_path: Path) -> None:
    """A model with a layer of another name, or size, is not in the file."""
    text = (HERE / "template.json").read_text()
    assert old in text
    (tmp_path / "other.json").write_text(text.replace(old, new))
    result = unnest.fix(
        HERE / "parallel.weights.h5", tmp_path / "o.h5", architecture=tmp_path / "other.json"
    )
    assert (result.action, result.error and result.error.code) == (
        "refused",
        "architecture-mismatch",
    )
    assert not (tmp_path / "o.h5").exists()
