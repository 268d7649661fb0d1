"""Make all cases anew.

    python make_all.py MODERN TF215 VENVS --out FOLDER [--all] [NUMBER ...]

MODERN: folder of the environment with TensorFlow 2.21, Keras 3.15, tf_keras 2.21. TF215: folder of the stack tf215.
VENVS: folder that holds k305, k333, k360 (make_venvs.sh). Each case is made by a process of its own.
FOLDER: for what is made; ../place.py puts it where it belongs. --all keeps the files that no test reads, too.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
ap = argparse.ArgumentParser()
ap.add_argument("modern")
ap.add_argument("tf215")
ap.add_argument("venvs")
ap.add_argument("--out", required=True)
ap.add_argument("--all", action="store_true")
ap.add_argument("numbers", nargs="*", type=int)
a = ap.parse_intermixed_args()
os.makedirs(a.out, exist_ok=True)
UNREAD = ("base.h5", "base_model.json", "source.keras", "expected.h5")
home = {
    "keras3.15": a.modern, "tf_keras2.21": a.modern, "tf215": a.tf215,
    "keras3.0": os.path.join(a.venvs, "k305"), "keras3.3": os.path.join(a.venvs, "k333"), "keras3.6": os.path.join(a.venvs, "k360"),
}
script = os.path.join(here, "run_case.py")
listing = subprocess.run([sys.executable, script, "--list"], capture_output=True, text=True)
if listing.returncode:
    listing = subprocess.run([os.path.join(a.modern, "bin", "python"), script, "--list"], capture_output=True, text=True, check=True)
bad = 0
for line in listing.stdout.splitlines():
    number, stack = line.split()
    if a.numbers and int(number) not in a.numbers:
        continue
    for old in os.listdir(a.out):
        if old.startswith(number + "-"):
            shutil.rmtree(os.path.join(a.out, old))
    with tempfile.TemporaryDirectory() as empty:
        env = {**os.environ, "HOME": empty, "CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONDONTWRITEBYTECODE": "1", "KERAS_BACKEND": "tensorflow", "TF_ENABLE_ONEDNN_OPTS": "0"}
        done = subprocess.run([os.path.join(home[stack], "bin", "python"), script, number, a.out], env=env, cwd=empty, capture_output=True, text=True)
    print(done.stdout.strip() or "%s %s nothing said" % (number, stack), flush=True)
    if done.returncode:
        bad += 1
        print("  FAILED %s %s: %s" % (number, stack, "\n".join(done.stderr.strip().splitlines()[-8:])), flush=True)
        continue
    if not a.all:
        for folder in os.listdir(a.out):
            kept_h5 = os.path.exists(os.path.join(a.out, folder, "parallel.h5"))
            for name in UNREAD if folder.startswith(number + "-") else ():
                if os.path.exists(os.path.join(a.out, folder, name)) and not (kept_h5 and name == "base.h5"):
                    os.remove(os.path.join(a.out, folder, name))
sys.exit(bool(bad))
