"""Make the cases anew: python3 make.py --stacks STACKS --tf221 ENV --legacy LEGACY --out OUT [NNN ...]

STACKS: the folder in which make-stack built the old stacks (STACKS/NAME/bin/python), by a neutral path (a link such as
/opt/stacks): old Keras writes file names into Lambda code; ENV: an environment with TensorFlow 2.21,
Keras 3 and tf_keras; LEGACY: the folder that holds fake_gpus.py;
OUT: a folder for what is made; ../place.py puts it where it belongs. One process at a time; a case that fails is named at the end.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(here))
from cells import cells, notes

parser = argparse.ArgumentParser(description=__doc__)
for option in ("--stacks", "--tf221", "--legacy", "--out"):
    parser.add_argument(option, required=True)
parser.add_argument("--verbose", action="store_true")
parser.add_argument("numbers", nargs="*")
args = parser.parse_args()
failed, kept, work = [], notes("checkpoint"), tempfile.mkdtemp()
script, note = os.path.join(work, "script.py"), os.path.join(work, "note.json")
for name, stack, api, source in sorted(cells(pathlib.Path(here, "cases"))):
    if args.numbers and name[:3] not in args.numbers:
        continue
    for path, content in ((script, source), (note, json.dumps(kept.get(name, {})))):
        with open(path, "w", encoding="utf-8") as f:
            f.write(content)
    env = args.tf221 if stack == "tf221" else os.path.join(args.stacks, stack)
    words = [os.path.join(env, "bin", "python"), os.path.join(here, "run_case.py"), stack, api, args.legacy, script, note]
    done = subprocess.run(
        [*words, os.path.join(os.path.abspath(args.out), name)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("OK ") or args.verbose]
    print("%-40s %-8s %s" % (name, stack, "\n".join(lines)), flush=True)
    if done.returncode:
        failed.append(name)
        print(done.stdout[-2500:], flush=True)
print("failed: %s" % ", ".join(failed) if failed else "all made")
sys.exit(bool(failed))
