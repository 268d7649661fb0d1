"""Today's TensorFlow: base/ (or lookalike/) serves y0.. for x0..; run by make.py.

Tells also, for information, whether parallel/ as written loads there.
"""
import glob
import json
import os
import sys

import numpy as np
import tensorflow as tf

tf.get_logger().setLevel('ERROR')


def ask(folder, where, xs):
    loaded = tf.saved_model.load(folder, tags=where['tags'])
    function = loaded.signatures[where['signature']]
    spec = function.structured_input_signature[1]
    arguments = {n: tf.constant(x, dtype=spec[n].dtype) for n, x in zip(where['inputs'], xs)}
    out = function(**arguments)
    return [out[n].numpy() for n in where['outputs']], sorted(k for k in loaded.signatures if not k.startswith('__saved_model'))


def same(a, b):
    return all(x.shape == y.shape and ((x == y).all() if y.dtype.kind in 'SUO' else
               np.abs(x.astype('f8') - y).max() <= 1e-4) for x, y in zip(a, b))


def main():
    out, wanted = sys.argv[1], sys.argv[2:]
    bad = []
    for folder in sorted(glob.glob(os.path.join(out, '[0-9][0-9][0-9]-*'))):
        name = os.path.basename(folder)
        if wanted and name[:3] not in wanted or not os.path.exists(folder + '/case.json'):
            continue
        facts = json.load(open(folder + '/case.json'))
        io = np.load(folder + '/io.npz')
        xs = [io['x%d' % i] for i in range(sum(k[0] == 'x' for k in io.files))]
        ys = [io['y%d' % i] for i in range(sum(k[0] == 'y' for k in io.files))]
        clean = facts['expected'] == 'clean' and os.path.isdir(folder + '/lookalike')
        target = folder + ('/lookalike' if clean else '/base')
        try:
            got, keys = ask(target, facts['serving'], xs)
            verdict = 'ok' if same(got, ys) else 'VALUES DIFFER'
            if keys != facts['signatures']:
                verdict += ' SIGNATURES %s' % keys
            for other in facts.get('other_serving', []):
                got, _ = ask(target, other, xs)
                if not same(got, [io[k] for k in other['values']]):
                    verdict += ' OTHER DIFFERS'
        except Exception as error:
            verdict = 'FAILED %s: %s' % (type(error).__name__, str(error).splitlines()[0][:150])
        note = ''
        if not clean:
            try:
                got, _ = ask(folder + '/parallel', facts.get('serving_parallel', facts['serving']), xs)
                note = 'parallel/ loads here' + ('' if same(got, ys) else ', other values')
            except Exception as error:
                note = 'parallel/ does not load here: ' + str(error).splitlines()[0][:110]
        size = sum(os.path.getsize(os.path.join(d, f)) for d, _, fs in os.walk(folder) for f in fs)
        print('%-46s %-8s %5d KB  %s' % (name, verdict, size // 1024, note), flush=True)
        if verdict != 'ok':
            bad.append(name)
    print('not good in today\'s TensorFlow:', bad)


main()
