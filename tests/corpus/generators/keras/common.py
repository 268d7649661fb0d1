"""What every case needs: train the parallel model, build the base on the same layers, check, save, describe."""
import json
import os
import sys
import warnings

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
warnings.filterwarnings("ignore")

import numpy as np

STACKS = {
    "keras3.15": "Keras 3.15, TensorFlow 2.21",
    "tf_keras2.21": "tf_keras 2.21, TensorFlow 2.21",
    "tf215": "tf.keras 2.15, TensorFlow 2.15",
    "keras3.0": "Keras 3.0.5, TensorFlow 2.15",
    "keras3.3": "Keras 3.3.3, TensorFlow 2.15",
    "keras3.6": "Keras 3.6.0, TensorFlow 2.15",
}


def load(stack):
    """The keras module of this stack (and tensorflow)."""
    import logging

    logging.disable(logging.WARNING)
    import tensorflow as tf

    if stack == "tf_keras2.21":
        import tf_keras as K
    elif stack == "tf215":
        K = tf.keras
    else:
        import keras as K
    try:
        import absl.logging

        absl.logging.set_verbosity("fatal")
    except ImportError:
        pass
    return K, tf


def flat(value):
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in flat(value[key])]
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in flat(item)]
    return [np.asarray(value)]


def cut(value, n):
    if isinstance(value, dict):
        return {k: cut(v, n) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [cut(v, n) for v in value]
    return value[:n]


def tensors(value):
    """Strings must be tensors: Keras 3 takes no NumPy strings."""
    import tensorflow as tf

    if isinstance(value, dict):
        return {k: tensors(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [tensors(v) for v in value]
    return tf.constant(value.tolist()) if value.dtype.kind == "U" else value


def textual(value):
    return any(a.dtype.kind == "U" for a in flat(value))


def data(X, Y, batch):
    """What fit and evaluate take."""
    if not textual(X):
        return dict(x=X, y=Y, batch_size=batch)
    import tensorflow as tf

    X = tensors(X)
    return dict(x=tf.data.Dataset.from_tensor_slices((tuple(X) if isinstance(X, list) else X, Y)).batch(batch))


def predict(K, model, feed, batch=8):
    if batch == len(flat(feed)[0]):
        return flat(model.predict_on_batch(tensors(feed)))
    return flat(model.predict(feed, batch_size=batch, verbose=0))


def close(a, b, tol):
    return len(a) == len(b) and all(
        x.shape == y.shape and np.allclose(x.astype("float64"), y.astype("float64"), atol=tol, rtol=0) for x, y in zip(a, b)
    )


def reload_ok(K, path, feed, want, custom, tol, batch=8):
    """Does the stack that wrote the file read it back, and does it predict the same?"""
    answer = ""
    for compiled in (True, False):
        try:
            kw = {"safe_mode": False} if path.endswith(".keras") else {}
            model = K.models.load_model(path, custom_objects=custom, compile=compiled, **kw)
            got = predict(K, model, feed, batch)
        except Exception as error:
            if os.environ.get("SHOW"):
                import traceback

                traceback.print_exc()
            answer = answer or "no: " + type(error).__name__
            continue
        if not close(got, want, tol):
            return "loads, predicts otherwise"
        return "yes" if compiled else "only with compile=False (%s)" % answer[4:]
    return answer


def finish(
    K, out, number, stack, how, *,
    par, base, template, X, Y,
    compile_par=None, compile_base=None,
    towers=None, scope=None, expected="parallel",
    files=("keras", "h5"), also=(), doubts="", tol=1e-4, concat=True,
    custom=None, json_first=False, feed_names=None, conversion=False, extra=None, cannot=(), fit=True, base_batch=8, h5_first=False, template_compiled=False,
):
    """Train `par`, build `base()`, check, save and describe. X, Y: 16 rows."""
    os.makedirs(out, exist_ok=True)
    name = os.path.basename(out)
    arch = par.to_json() if json_first else None
    if compile_par is not None:
        par.compile(**compile_par)
        if fit:
            par.fit(**data(X, Y, 8), epochs=2, shuffle=False, verbose=0)
    if compile_par is not None and fit:
        par.evaluate(**data(X, Y, 8), verbose=0)
    # batch 8 in one go
    io = cut(X, 8)
    p = predict(K, par, io)

    written, failed = [], {}

    def save(label, do):
        path = os.path.join(out, label)
        try:
            do(path)
            written.append(label)
        except Exception as error:
            if os.environ.get("SHOW"):
                import traceback

                traceback.print_exc()
            failed[label] = "%s: %s" % (type(error).__name__, str(error).split("\n")[0][:160])
            if os.path.exists(path):
                os.remove(path)

    def text(value):
        def write(path):
            with open(path, "w") as f:
                f.write(value())
        return write

    def save_parallel():
        """Before anything is done to the template, as people did."""
        if conversion:
            if not plain:
                save("source.keras", par.save)
                save("source.h5", par.save)
        elif expected == "clean":
            if "keras" in files:
                save("model.keras", par.save)
            if "weights" in files:
                save("model.weights.h5", par.save_weights)
                save("model.json", text(lambda: arch or par.to_json()))
        else:
            if h5_first:
                save("parallel.h5", par.save)
            if "keras" in files:
                save("parallel.keras", par.save)
            if "weights" in files:
                save("parallel.weights.h5", par.save_weights)
                save("model.json", text(lambda: arch or par.to_json()))

    plain = base is None
    if not template_compiled:
        save_parallel()
    b = par if plain else base()
    same_order = True
    if not plain and compile_base is not None and compile_par is not None:
        b.compile(**{**compile_base, "optimizer": par.optimizer})
        same_order = [id(v) for v in par.trainable_variables] == [id(v) for v in b.trainable_variables]
        if fit:
            b.evaluate(**data(X, Y, base_batch), verbose=0)
    if template_compiled:
        save_parallel()
    y = p if plain else predict(K, b, io, base_batch)
    agree = close(p, y, tol)
    largest = max([float(np.max(np.abs(a.astype("float64") - c.astype("float64")))) if a.shape == c.shape and a.size else float("nan") for a, c in zip(p, y)] or [0.0])
    if expected == "parallel" and concat and not agree:
        raise SystemExit("%s: parallel and base differ (%g)" % (name, largest))
    arrays = {"x%d" % i: a for i, a in enumerate(flat(io))}
    arrays.update({"y%d" % i: a for i, a in enumerate(y)})
    arrays.update({"p%d" % i: a for i, a in enumerate(p)})
    np.savez_compressed(os.path.join(out, "io.npz"), **arrays)

    if conversion:
        # .keras first: saving .h5 takes the optimizer out of Keras 3's compile_config for good
        save("expected.keras", b.save)
        save("source.h5" if plain else "expected.h5", b.save)
    elif expected != "clean":
        if h5_first:
            save("base.h5", b.save)
        if "keras" in files:
            save("base.keras", b.save)
        if "weights" in files:
            save("base.weights.h5", b.save_weights)
            save("base_model.json", text(b.to_json))
        if "h5" in files and not h5_first:
            save("base.h5", b.save)
    loads = {}
    for label in written:
        if label.endswith(".keras") or (label.endswith(".h5") and not label.endswith(".weights.h5")):
            first = label.startswith(("parallel", "source", "model"))
            loads[label] = reload_ok(K, os.path.join(out, label), io, p if first else y, custom, max(tol, 1e-3), 8 if first else base_batch)
    case = {
        "stack": stack, "software": STACKS[stack], "how": how, "expected": expected, "towers": towers, "scope": scope,
        "template_compiled_before_parallel_was_saved": template_compiled,
        "template_parameters": int(template.count_params()) if template is not None else None,
        "also_acceptable": list(also), "doubts": doubts,
        "files": written, "could_not_be_saved": failed,
        "loads_in_its_own_stack": loads,
        "optimizer_order_same_in_both": bool(same_order),
        "largest_difference_of_predictions": largest,
        "input_order": feed_names, "base_batch": base_batch,
    }
    if conversion:
        case["formats_cannot_hold"] = list(cannot) + differences(out, written)
    if extra:
        case.update(extra)
    with open(os.path.join(out, "case.json"), "w") as f:
        json.dump(case, f, indent=1, sort_keys=True)
        f.write("\n")
    size = sum(os.path.getsize(os.path.join(out, f)) for f in os.listdir(out)) // 1024
    print("%-44s %-13s diff %.1e order %s %dKB %s loads %s %s" % (
        name, stack, largest, same_order, size, " ".join(written), loads, failed or ""))
    sys.stdout.flush()


def datasets(group):
    import h5py

    found = {}
    group.visititems(lambda name, o: found.__setitem__(name, np.asarray(o)) if isinstance(o, h5py.Dataset) else None)
    return found


def differences(out, written):
    """What the .h5 of this case holds and the .keras does not, and the other way round."""
    import collections
    import io
    import zipfile

    import h5py

    if "expected.keras" not in written:
        return []
    label = "expected.h5" if "expected.h5" in written else "source.h5"
    if label not in written:
        return []
    said = []
    with h5py.File(os.path.join(out, label), "r") as old, zipfile.ZipFile(os.path.join(out, "expected.keras")) as archive:
        new = h5py.File(io.BytesIO(archive.read("model.weights.h5")), "r")
        a, b = datasets(old), datasets(new)
        count = lambda d: collections.Counter((v.dtype.str, v.shape, v.tobytes()) for v in d.values())
        only_new, only_old = count(b) - count(a), count(a) - count(b)
        if only_new:
            names = sorted(k for k, v in b.items() if (v.dtype.str, v.shape, v.tobytes()) in only_new)
            said.append("tensors (by value) that only the .keras holds, among: " + ", ".join(names))
        if only_old:
            names = sorted(k for k, v in a.items() if (v.dtype.str, v.shape, v.tobytes()) in only_old)
            said.append("tensors (by value) that only the .h5 holds, among: " + ", ".join(names))
        training = json.loads(old.attrs["training_config"]) if "training_config" in old.attrs else None
        compiled = json.loads(archive.read("config.json")).get("compile_config")
        if training is not None and compiled is not None:
            for key in sorted(set(training) | set(compiled)):
                if key in ("optimizer", "optimizer_config"):
                    continue
                if key not in training or key not in compiled:
                    said.append("%s is in %s only" % (key, "compile_config" if key in compiled else "training_config"))
                elif training[key] != compiled[key]:
                    said.append("%s: training_config (.h5) %s; compile_config (.keras) %s" % (key, json.dumps(training[key]), json.dumps(compiled[key])))
        assets = [n for n in archive.namelist() if n.startswith("assets")]
        if assets:
            said.append("assets only in the .keras: " + ", ".join(assets))
    return said


REGISTRY = {}


def case(number, name, stack):
    def keep(fn):
        assert number not in REGISTRY, number
        REGISTRY[number] = (name, stack, fn)
        return fn
    return keep


def rows(*shape, seed=0, n=16):
    return np.random.RandomState(seed).rand(n, *shape).astype("float32")


def onehot(k, seed=0, n=16):
    return np.eye(k, dtype="float32")[np.random.RandomState(seed).randint(0, k, n)]


def run(number, root):
    name, stack, fn = REGISTRY[number]
    K, tf = load(stack)
    K.utils.set_random_seed(number)
    out = os.path.join(root, "%d-%s" % (number, name))
    # globals, as in anyone's script: a lambda must not hold modules in its closure
    fn.__globals__.update(K=K, tf=tf)
    kw = fn()
    finish(K, out, number, stack, kw.pop("how"), **kw)
