"""Make the cases anew: python3 make.py --stacks STACKS --tf221 ENV --legacy LEGACY --out OUT [NNN ...]

STACKS: the folder in which make-stack built the old stacks (STACKS/NAME/bin/python), by a neutral path (a link such as
/opt/stacks): old Keras writes file names into Lambda code; ENV: an environment with TensorFlow 2.21,
Keras 3 and tf_keras; LEGACY: the folder that holds fake_gpus.py;
OUT: a folder for what is made; ../place.py puts it where it belongs. One process at a time; a case that fails is named at the end.
"""

import argparse
import os
import re
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--stacks", required=True)
parser.add_argument("--tf221", required=True)
parser.add_argument("--legacy", required=True)
parser.add_argument("--out", required=True)
parser.add_argument("--verbose", action="store_true")
parser.add_argument("numbers", nargs="*")
args = parser.parse_args()
failed = []
for name in sorted(os.listdir(os.path.join(here, "cases"))):
    if not name.endswith(".py") or (args.numbers and name[:3] not in args.numbers):
        continue
    script = os.path.join(here, "cases", name)
    with open(script) as f:
        stack, api = re.match(r"# stack: (\S+), (.+)", f.readline()).groups()
    env = args.tf221 if stack == "tf221" else os.path.join(args.stacks, stack)
    folder = os.path.join(args.out, name[:-3])
    done = subprocess.run(
        [
            os.path.join(env, "bin", "python"),
            os.path.join(here, "run_case.py"),
            stack,
            api,
            args.legacy,
            script,
            folder,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("OK ") or args.verbose]
    print("%-40s %-8s %s" % (name[:-3], stack, "\n".join(lines)), flush=True)
    if done.returncode:
        failed.append(name[:-3])
        print(done.stdout[-2500:], flush=True)
print("failed: %s" % ", ".join(failed) if failed else "all made")
sys.exit(bool(failed))
