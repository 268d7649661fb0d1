# -*- coding: utf-8 -*-
"""Cases of one stack, in its own Python:  run.py STACK OUT NUMBER...   Prints one JSON line per case."""
import importlib
import io
import json
import linecache
import os
import sys
import time
import traceback
import types

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)
sys.dont_write_bytecode = True
stack, out, numbers = sys.argv[1], sys.argv[2], [int(n) for n in sys.argv[3:]]
if stack == 'k3':
    os.environ['KERAS_BACKEND'] = 'tensorflow'

import kit  # noqa: E402


def plainly(name):
    """Import a module whose code does not know where it lies: Lambda layers store the file name."""
    with io.open(os.path.join(here, name + '.py'), encoding='utf-8') as f:
        text = f.read()
    made = types.ModuleType(str(name))
    made.__file__ = str(name) + '.py'
    sys.modules[name] = made
    linecache.cache[made.__file__] = (len(text), None, text.splitlines(True), made.__file__)
    exec(compile(text.encode('utf-8'), made.__file__, 'exec', dont_inherit=True), made.__dict__)
    return made


modules = [plainly(n) for n in ('spellings', 'lookalikes', 'claims', 'weights') if os.path.exists(os.path.join(here, n + '.py'))]
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

if stack in ('k3', 'k224'):
    import keras
else:
    keras = tf.keras
for room in modules + [kit]:
    room.np, room.tf, room.keras, room.K, room.L = np, tf, keras, keras.backend, keras.layers
    room.OUT, room.STACK = out, stack
if stack == 'k3':
    kit.keras.backend.clear_session = keras.utils.clear_session
for number in numbers:
    spec = kit.CASES[number]
    begin = time.time()
    np.random.seed(number)
    (tf.set_random_seed if hasattr(tf, 'set_random_seed') else tf.random.set_seed)(number)
    try:
        (spec.facts.get('writer') or kit.WRITERS[spec.container])(spec)
        done = {'number': number, 'folder': os.path.basename(spec.folder), 'seconds': round(time.time() - begin, 1)}
    except Exception as error:
        trace = traceback.format_exc().splitlines()
        done = {'number': number, 'folder': os.path.basename(spec.folder), 'error': '%s: %s' % (type(error).__name__, ' '.join(str(error).split())[:300]), 'trace': trace[-9:]}
        import shutil
        shutil.rmtree(spec.folder, ignore_errors=True)
    print('CASE ' + json.dumps(done), flush=True)
