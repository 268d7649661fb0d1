# -*- coding: utf-8 -*-
"""One case, in its stack's own Python:  run.py MODULE NUMBER OUT LEGACY"""
from __future__ import print_function

import io
import linecache
import os
import sys
import types

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
module, number, out, legacy = sys.argv[1:5]
sys.path.insert(0, legacy)
sys.dont_write_bytecode = True

import kit  # noqa: E402



def plainly(name):
    """Import a module whose code does not know where it lies: Lambda layers store the file name."""
    with io.open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name + '.py'), encoding='utf-8') as f:
        text = f.read()
    made = types.ModuleType(str(name))
    made.__file__ = str(name) + '.py'
    sys.modules[name] = made
    linecache.cache[made.__file__] = (len(text), None, text.splitlines(True), made.__file__)
    exec(compile(text.encode('utf-8'), made.__file__, 'exec', dont_inherit=True), made.__dict__)
    return made


module = plainly(module)
spec = kit.CASES[int(number)]
if spec['api'] in ('keras', 'keras 3'):
    os.environ['KERAS_BACKEND'] = 'tensorflow'
if spec['api'] == 'tf_keras':
    os.environ['TF_USE_LEGACY_KERAS'] = '1'
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
import fake_gpus  # noqa: E402

if spec['api'] in ('keras', 'keras 3'):
    import keras
elif spec['api'] == 'tf_keras':
    import tf_keras as keras
else:
    keras = tf.keras
for room in (module, kit):
    room.np, room.tf, room.keras, room.fake_gpus = np, tf, keras, fake_gpus
    room.K, room.L = keras.backend, keras.layers
np.random.seed(int(number))
if hasattr(tf, 'set_random_seed'):
    tf.set_random_seed(int(number))
else:
    tf.random.set_seed(int(number))
if spec['stack'] in ('k122', 'k209', 'k216', 'k224', 'k231', 'py27k224', 'tf20', 'tf22', 'tf23'):
    fake_gpus.install(4)        # before anything is built: it sets the session
case = kit.Case(spec, out)
spec['function'](case)
print('ok %s' % os.path.basename(case.folder))
