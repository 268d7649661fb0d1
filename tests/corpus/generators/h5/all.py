"""Make the cases of this folder anew: python all.py STACKS TODAY OUT [CASE...]

STACKS is the folder of shared/legacy/make-stack's environments, TODAY the folder of one with TensorFlow, Keras 3 and
tf_keras. Give both through neutral paths (a link such as /opt/stacks): old Keras writes file names into Lambda code.
OUT is a folder for what is made; ../place.py puts it where it belongs. CASE is a number or the beginning of one. Each case is a process of its own, so that automatic layer names repeat.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
WORK = pathlib.Path(tempfile.gettempdir()) / 'unnest-corpus'


def header(script):
    return dict(re.findall(r'(stack|keras): (\S+)', script.read_text().split('\n', 1)[0]))


def main(stacks, today, made, *wanted):
    WORK.mkdir(exist_ok=True)
    (WORK / 'home').mkdir(exist_ok=True)
    for script in [*HERE.glob('*.py'), HERE.parents[3] / 'fixtures/scripts/fake_gpus.py']:
        shutil.copy(script, WORK)
    failed = []
    for script in sorted(WORK.glob('[0-9]*.py')):
        case = script.stem.replace('_', '-')
        if wanted and not any(case.startswith(w) for w in wanted) or not (HERE / script.name).exists():
            continue
        head = header(script)
        out = WORK / 'out' / case
        shutil.rmtree(out, ignore_errors=True)
        python = os.path.join(today if head['stack'] == 'today' else os.path.join(stacks, head['stack']), 'bin', 'python')
        env = {'PATH': os.environ['PATH'], 'HOME': str(WORK / 'home'), 'KERAS_BACKEND': 'tensorflow', 'LC_ALL': 'C.UTF-8',
               'CUDA_VISIBLE_DEVICES': '', 'TF_CPP_MIN_LOG_LEVEL': '3', 'PYTHONHASHSEED': '0', 'PYTHONDONTWRITEBYTECODE': '1',
               'TF_ENABLE_ONEDNN_OPTS': '0', 'OMP_NUM_THREADS': '1',
               'STRANGER_STACK': head['stack'], 'STRANGER_KERAS': head['keras'], 'STRANGER_CASE': case, 'STRANGER_OUT': str(out)}
        run = subprocess.run([python, str(script)], env=env, cwd=str(WORK), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             universal_newlines=True, timeout=300)
        if run.returncode or not (out / 'case.json').exists():
            failed.append(case)
            print('FAILED   ', case, '\n   ', '\n    '.join(run.stdout.strip().split('\n')[-6:]), flush=True)
            continue
        print(run.stdout.strip().split('\n')[-1], flush=True)
        shutil.rmtree(os.path.join(made, case), ignore_errors=True)
        shutil.copytree(str(out), os.path.join(made, case))
    print('%d failed%s' % (len(failed), ': ' + ' '.join(failed) if failed else ''))
    return bool(failed)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
