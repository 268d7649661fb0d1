"""Make the cases of this folder anew: python all.py STACKS TODAY OUT [CASE...]

STACKS is the folder of fixtures/scripts/make-stack's environments, TODAY the folder of one with TensorFlow, Keras 3 and
tf_keras. Give both through neutral paths (a link such as /opt/stacks): old Keras writes file names into Lambda code.
OUT is a folder for what is made; ../place.py puts it where it belongs. CASE is a number or the beginning of one.
A new case has its note, `case.json`, in ../../cases/h5/NAME before it is made.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from cells import ROOT, cells, notes

WORK = pathlib.Path(tempfile.gettempdir()) / 'unnest-corpus'


def main(stacks, today, made, *wanted):
    (WORK / 'home').mkdir(parents=True, exist_ok=True)
    for script in [*HERE.glob('*.py'), ROOT / 'fixtures/scripts/fake_gpus.py']:
        shutil.copy(script, WORK)
    failed, kept = [], notes('keras', 'h5')
    for case, stack, api, source in sorted(cells(HERE / 'cases')):
        if wanted and not any(case.startswith(w) for w in wanted):
            continue
        script, out = WORK / ('%s.py' % case.replace('-', '_')), WORK / 'out' / case
        script.write_text(source, encoding='utf-8')
        (WORK / 'note.json').write_text(json.dumps(kept[case]), encoding='utf-8')
        shutil.rmtree(out, ignore_errors=True)
        python = os.path.join(today if stack == 'today' else os.path.join(stacks, stack), 'bin', 'python')
        env = {'PATH': os.environ['PATH'], 'HOME': str(WORK / 'home'), 'KERAS_BACKEND': 'tensorflow', 'LC_ALL': 'C.UTF-8',
               'CUDA_VISIBLE_DEVICES': '', 'TF_CPP_MIN_LOG_LEVEL': '3', 'PYTHONHASHSEED': '0', 'PYTHONDONTWRITEBYTECODE': '1',
               'TF_ENABLE_ONEDNN_OPTS': '0', 'OMP_NUM_THREADS': '1', 'STRANGER_STACK': stack, 'STRANGER_KERAS': api,
               'STRANGER_CASE': case, 'STRANGER_OUT': str(out), 'STRANGER_NOTE': str(WORK / 'note.json')}
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
