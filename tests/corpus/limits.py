"""Cases that end otherwise than their authors ask, and why: not reached (`LIMITS`), or otherwise and as good."""

from __future__ import annotations

from collections.abc import Mapping

from tests.corpus.case import Case, Facts, cases

#: What the recogniser does not reach. A case that is reached all the same fails here, and its line goes.
LIMITS: dict[str, str] = {
    "119-subclassed-template-custom-merge": "what the project's own merge layer does is in code, and that is not said",
    "867-sum-called-concat-k224": "a custom class joins: slices with numbers speak for a wrapper, as in 108 and 170",
}

_LEFT_ALONE: Facts = {"verdict": "clean", "wrappers": 0, "action": "unchanged"} | dict.fromkeys(
    ("towers", "scope", "parameters")
)

_LIKELY_PARALLEL: Facts = {"verdict": "parallel", "wrappers": 1, "action": "fixed"}
_SAME_NAMES = "weights alone bear the names of a wrapper: parallel, likely, with a warning, as its author takes too"

#: What is said or done otherwise and does no harm: which facts, and why.
AS_GOOD: Mapping[str, tuple[Facts, str]] = {
    "113-spectral-timedistributed-mixed": (
        {"parameters": 164},
        "SpectralNormalization stores its layer's kernel twice, and the file does not say that they are one",
    ),
    "120-two-autoencoders-one-file": (
        {"wrappers": 1},
        "one of the two that share a template is named; both are cut",
    ),
    "121-frozen-constants": (
        {"parameters": None},
        "no variables: which constants are weights is not stored",
    ),
    "123-classify-signature-shared-sub-model": (
        {"scope": "embedded"},
        "a loop decodes images in front, as told",
    ),
    "127-parallel-model-class": (
        _LEFT_ALONE,
        "a class that keeps its layers in code: there is no graph, and that is said",
    ),
    "142-wrapped-twice": (
        {"towers": {2, 3}},
        "the case names the outer wrapper's towers alone: 3 around 2",
    ),
    "150-tf215-lambda-closure-spectral": ({"parameters": 293}, "as in 113"),
    "154-fp16-casts": (
        {"scope": "embedded"},
        "the casts change values and are kept, as its author takes too",
    ),
    "156-tf210-fixed-batch-signature": (
        {"action": "refused"},
        "the towers take 4 rows and no others, as told",
    ),
    "220-slices-of-inner-input": ({"scope": "embedded"}, "as its author takes too"),
    "347-shift-layers": (
        _LIKELY_PARALLEL,
        "told numbers of a class whose code is not in the file: parallel, likely, as its author takes too",
    ),
    "366-blocks-of-stripes-bare-k231-inline": (
        {"towers": 2},
        "two wrappers of two towers, one in the other, are taken out",
    ),
    "369-blocks-of-stripes-bare-tf210-function": ({"towers": 2}, "as in 366"),
    "412-textcnn-eight": (
        {"towers": None},
        "weights with the template's JSON do not tell the number of towers",
    ),
    "428-loaded-and-wrapped-again": ({"towers": {2, 3}}, "as in 142"),
    "811-cells-late-eager-tf23": (
        _LIKELY_PARALLEL,
        "every tower's cells are the last part's: likely, with a finding, as its author takes too",
    ),
    "812-cells-late-eager-tf215": (_LIKELY_PARALLEL, "as in 811"),
    "902-weights-triplet-concatenate-k224": (_LIKELY_PARALLEL, _SAME_NAMES),
    "903-weights-triplet-concatenate-tf23": (_LIKELY_PARALLEL, _SAME_NAMES),
    "918-weights-contrastive-concatenate-k224": (_LIKELY_PARALLEL, _SAME_NAMES),
    "919-weights-contrastive-concatenate-tf23": (_LIKELY_PARALLEL, _SAME_NAMES),
}

#: Towers without a nested model, and a base that was made beside the parallel model, not in it.
INLINE = frozenset(
    case.name
    for case in cases("h5")
    if case.parallel and "-h5-tf23-" in case.name and case.name.endswith("-inline")
)

#: Results that are as good as the base, by the author's own words, and differ from it.
OTHER_FILE: Mapping[str, str] = {
    "154-fp16-casts": "the casts are kept",
    "330-dictionary-inputs-h5-tf23-function": "the base is a model of another name around the same layers",
    "894-weights-frozen-inside-k224": "without an architecture names are read as a flat model: no backbone",
    "895-weights-frozen-inside-tf23": "as in 894",
    "896-weights-renamed-layers-k224": "layers were renamed once built: names of weights are the old ones",
    "897-weights-renamed-layers-tf23": "as in 896",
    "862-sizes-declared-tf23": "the template itself was declared for 4 rows, its base for any",
    "220-slices-of-inner-input": "an outer input stays, as the design says of what is embedded: base_embedded.h5",
    **dict.fromkeys(
        INLINE,
        "towers of the model's own layers: its name and its input stay, and the base has others",
    ),
}


def otherwise(case: Case) -> Facts:
    """The facts that stand in the place of what the author of the case asks for."""
    return AS_GOOD.get(case.name, ({}, ""))[0]
