"""Makes all cases anew:

    python3 make.py --stacks STACKS --modern PYTHON --legacy LEGACY --out FOLDER [--all] [NUMBER ...]

STACKS: the folder with the old stacks, each STACKS/NAME/bin/python.  PYTHON: the interpreter that has
today's TensorFlow, keras 3 and tf_keras.  LEGACY: the folder with fake_gpus.py.  FOLDER: for what is
made; ../place.py puts it where it belongs.  One process at a time; `check.py` runs at the end under PYTHON.  Then what no test reads is removed:
every base/, base.h5 of what holds a graph and no Keras model, and the folders of cases that take more than 500 KB, two
excepted.  --all keeps it.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)
sys.dont_write_bytecode = True

import kit  # noqa: E402
import lookalikes  # noqa: E402,F401
import wrappers_modern  # noqa: E402,F401
import wrappers_tf1  # noqa: E402,F401
import wrappers_tf2  # noqa: E402,F401

parser = argparse.ArgumentParser()
parser.add_argument('--stacks', required=True)
parser.add_argument('--modern', required=True)
parser.add_argument('--legacy', required=True)
parser.add_argument('--out', required=True)
parser.add_argument('--all', action='store_true')
parser.add_argument('numbers', nargs='*', type=int)
args = parser.parse_intermixed_args()
os.makedirs(args.out, exist_ok=True)
LARGE, WANTED = 500 * 1024, (153, 156)      # a vocabulary among the assets; a batch of fixed size

failed = []
for number in args.numbers or sorted(kit.CASES):
    spec = kit.CASES[number]
    python = args.modern if spec['stack'] == 'tf221' else os.path.join(
        args.stacks, spec['stack'], 'bin', 'python')
    with tempfile.TemporaryDirectory() as home:
        environment = dict(os.environ, HOME=home, TMPDIR=home, CUDA_VISIBLE_DEVICES='',
                           TF_CPP_MIN_LOG_LEVEL='3', TF_ENABLE_ONEDNN_OPTS='0')
        for name in ('KERAS_HOME', 'KERAS_BACKEND', 'TF_USE_LEGACY_KERAS', 'PYTHONPATH'):
            environment.pop(name, None)
        begin = time.time()
        done = subprocess.run([python, os.path.join(here, 'run.py'), spec['module'], str(number),
                               args.out, args.legacy], env=environment, cwd=home,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        failed.append(number)
        print('FAILED %d %s (%s)\n%s' % (number, spec['name'], spec['stack'],
                                         '\n'.join(done.stdout.splitlines()[-14:])), flush=True)
    else:
        print('%-60s %5.1f s' % (''.join(l for l in done.stdout.splitlines() if l.startswith('ok '))[:60], time.time() - begin), flush=True)
print('failed:', failed)
subprocess.run([args.modern, os.path.join(here, 'check.py'), args.out] + list(map(str, args.numbers)),
               env=dict(os.environ, CUDA_VISIBLE_DEVICES='', TF_CPP_MIN_LOG_LEVEL='3'))
for folder in [] if args.all else sorted(os.listdir(args.out)):
    number, folder = folder[:3], os.path.join(args.out, folder)
    if number.isdigit() and (not args.numbers or int(number) in args.numbers):
        shutil.rmtree(os.path.join(folder, 'base'), ignore_errors=True)
        inside = [f for f in ('keras_metadata.pb', 'assets/saved_model.json') if os.path.exists(os.path.join(folder, 'parallel', f))]
        if not inside and kit.CASES[int(number)]['stack'] not in ('tf20', 'tf22', 'tf23') and os.path.exists(os.path.join(folder, 'base.h5')):
            os.remove(os.path.join(folder, 'base.h5'))
        size = sum(os.path.getsize(os.path.join(d, f)) for d, _, files in os.walk(folder) for f in files)
        if size > LARGE and int(number) not in WANTED:
            shutil.rmtree(folder)
            print('left out: %s, %d KB' % (os.path.basename(folder), size // 1024))
sys.exit(bool(failed))
