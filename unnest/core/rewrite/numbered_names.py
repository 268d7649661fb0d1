"""Weight names that Keras 2.3 numbered because another weight of the same group bore them."""

from __future__ import annotations

import re
from collections import Counter

from unnest.core.model import Group

NUMBERED = re.compile(r"b'(?P<name>[^']+)'_\d+")
"""A name as Keras 2.3 writes it where the group has one already (source: files of Keras 2.3.1).

It numbers the text that Python shows for bytes: `b'tied/kernel:0'_2` for the second `tied/kernel:0`.
"""


def without_needless(group: Group) -> Group:
    """The group with plain names where nothing else in it bears them, as its writer would have written it."""
    plain = [_plain(tensor.name) for tensor in group.tensors]
    count = Counter(plain)
    named = zip(group.tensors, plain, strict=True)
    return Group(group.name, tuple(t._replace(name=name) if count[name] == 1 else t for t, name in named))


def _plain(name: str) -> str:
    numbered = NUMBERED.fullmatch(name)
    return numbered["name"] if numbered else name
