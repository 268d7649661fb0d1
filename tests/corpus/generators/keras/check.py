"""check.py FOLDER: every tensor of a base file is in the parallel file, bit for bit (metrics' states aside)."""
import collections
import io
import json
import os
import sys
import tempfile
import zipfile

import h5py
import numpy as np


def tensors(path):
    data = path
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as z:
            data = io.BytesIO(z.read("model.weights.h5"))
    out = {}
    with h5py.File(data, "r") as f:
        f.visititems(lambda n, o: out.__setitem__(n, np.asarray(o)) if isinstance(o, h5py.Dataset) else None)
    return {k: v for k, v in out.items() if not k.startswith("metrics/")}


def bag(d):
    return collections.Counter((v.dtype.str, v.shape, v.tobytes()) for v in d.values())


root = sys.argv[1]
bad = 0
for name in sorted(os.listdir(root)):
    folder = os.path.join(root, name)
    info = os.path.join(folder, "case.json")
    if not os.path.exists(info):
        continue
    case = json.load(open(info))
    has = lambda f: os.path.exists(os.path.join(folder, f))
    pairs = [("parallel.keras", "base.keras"), ("parallel.weights.h5", "base.weights.h5"), ("source.keras", "expected.keras"), ("base.keras", "base.weights.h5"), ("base.weights.h5", "base.keras")]
    for a, b in pairs:
        if has(a) and has(b):
            x, y = tensors(os.path.join(folder, a)), tensors(os.path.join(folder, b))
            missing, spare = bag(y) - bag(x), bag(x) - bag(y)
            if missing or spare:
                lost = [k for k, v in y.items() if (v.dtype.str, v.shape, v.tobytes()) in missing]
                more = [k for k, v in x.items() if (v.dtype.str, v.shape, v.tobytes()) in spare]
                print("%s: %s vs %s: only in the second %s; only in the first %s" % (name, a, b, lost[:6], more[:6]))
                bad += bool(missing)
    text = open(info).read()
    for word in (os.path.expanduser("~") + "/", tempfile.gettempdir() + "/"):
        if word in text:
            print(name, "names a path", word)
            bad += 1
print("done,", bad, "bad")
