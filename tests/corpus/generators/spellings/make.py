"""Makes all cases anew:

    python3 make.py [--all] STACKS TODAY OUT [CASE...]

STACKS: the folder with the old stacks, each STACKS/NAME/bin/python.  TODAY: the interpreter (or environment) that has
today's TensorFlow, Keras 3 and tf_keras.  OUT: a folder for what is made; ../place.py
puts it where it belongs.  CASE: numbers, or parts of names.  One process per stack.
--all makes also those that the folder does without for their size.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)
sys.dont_write_bytecode = True

import kit  # noqa: E402

for name in ('spellings', 'lookalikes', 'claims', 'weights'):
    if os.path.exists(os.path.join(here, name + '.py')):
        __import__(name)
ARGUMENTS = [a for a in sys.argv[1:] if not a.startswith('--')]
OUT = ARGUMENTS[2]


COLUMNS = ['.h5, tf.keras 2.3', '.h5, tf.keras 2.10', '.h5, Keras 3', 'SavedModel, 2.3', 'SavedModel, 2.10', 'SavedModel, 2.15', 'graph, TF 1.15, inline', 'graph, TF 1.15, function',
           'graph, TF 2, inline', 'graph, TF 2, function']


def table(errors):
    """Spellings by containers: the number of what is kept, the number in brackets of what --all makes too, or why it cannot be written."""
    refused, lines = [], []
    for first, title in ((100, 'Wrapper'), (400, 'Look-alike')):
        lines += ['', '| %s | %s |' % (title, ' | '.join(COLUMNS)), '|---' * (len(COLUMNS) + 1) + '|']
        for row in range(first, first + (300 if first == 100 else 350), 10):
            if row not in kit.CASES:
                continue
            cells = []
            for number in range(row, row + 10):
                spec = kit.CASES[number]
                folder = '%03d-%s' % (number, spec.name)
                if folder in errors:
                    if errors[folder] not in refused:
                        refused.append(errors[folder])
                    cells.append('no: %s' % (chr(ord('a') + refused.index(errors[folder]))))
                else:
                    cells.append(('%d' if spec.kept else '(%d)') % number + (' ' + spec.form if number % 10 < 6 else ''))
            name = kit.CASES[row].name.split('-h5-')[0]
            lines.append('| %s | %s |' % (name[4:] if first == 400 else name, ' | '.join(cells)))
    lines += [''] + ['%s: `%s`' % (chr(ord('a') + i), text) + '  ' for i, text in enumerate(refused)]
    with open(os.path.join(here, 'TABLE.md'), 'w') as f:
        f.write('# Spellings by containers\n\nA number is a case here; in brackets: kept packed in `../../spellings`, made by `make.py --all`; no: the stack cannot write it, '
                'its error below.\n' + '\n'.join(lines).rstrip() + '\n')


def main():
    everything = '--all' in sys.argv
    stacks, today, wanted = ARGUMENTS[0], ARGUMENTS[1], ARGUMENTS[3:]
    os.makedirs(OUT, exist_ok=True)
    if os.path.isdir(today):
        today = os.path.join(today, 'bin', 'python')
    chosen = {}
    for number, spec in sorted(kit.CASES.items()):
        folder = '%03d-%s' % (number, spec.name)
        named = any(w == str(number) or (not w.isdigit() and w in folder and (spec.kept or everything)) for w in wanted)
        if named or not wanted and (everything or spec.kept):
            chosen.setdefault(spec.stack, []).append(number)
    cannot = os.path.join(here, 'cannot.json')
    errors = json.load(open(cannot)) if os.path.exists(cannot) else {}
    for stack, numbers in chosen.items():
        python = today if stack == kit.KERAS3 else os.path.join(stacks, stack, 'bin', 'python')
        for number in numbers:
            for old in os.listdir(OUT):
                if old.startswith('%03d-' % number):
                    shutil.rmtree(os.path.join(OUT, old))
        with tempfile.TemporaryDirectory(prefix='examiners-') as home:
            environment = dict(os.environ, HOME=home, TMPDIR=home, CUDA_VISIBLE_DEVICES='', TF_CPP_MIN_LOG_LEVEL='3', TF_ENABLE_ONEDNN_OPTS='0')
            for key in ('KERAS_HOME', 'KERAS_BACKEND', 'TF_USE_LEGACY_KERAS', 'PYTHONPATH'):
                environment.pop(key, None)
            running = subprocess.Popen([python, os.path.join(here, 'run.py'), stack, OUT] + [str(n) for n in numbers], env=environment, cwd=home,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            last = []
            for line in running.stdout:
                last = (last + [line.rstrip()])[-30:]
                if not line.startswith('CASE '):
                    continue
                done = json.loads(line[5:])
                errors.pop(done['folder'], None)
                if 'error' in done:
                    errors[done['folder']] = done['error']
                    print('CANNOT %s\n   %s' % (done['folder'], '\n   '.join(done['trace'])), flush=True)
                else:
                    print('%-70s %5.1f s' % (done['folder'], done['seconds']), flush=True)
            if running.wait():
                print('%s ended with %s\n%s' % (stack, running.returncode, '\n'.join(last)), flush=True)
    for folder in [k for k in errors if k not in ['%03d-%s' % (n, s.name) for n, s in kit.CASES.items()]]:
        del errors[folder]
    if not wanted and not everything:
        for folder in os.listdir(OUT):
            if folder[:3].isdigit() and not kit.CASES[int(folder[:3])].kept:
                shutil.rmtree(os.path.join(OUT, folder))
    with open(cannot, 'w') as f:
        json.dump(errors, f, indent=1, sort_keys=True)
        f.write('\n')
    table(errors)


main()
