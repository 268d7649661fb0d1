"""run_case.py STACK API LEGACY SCRIPT NOTE FOLDER: run one case with this Python; what it saves goes into FOLDER (new)."""
from __future__ import print_function

import io
import json
import linecache
import os
import shutil
import sys
import tempfile

stack, api, legacy, script, note, folder = sys.argv[1:]
home = tempfile.mkdtemp()
os.environ['HOME'] = home  # Keras reads and writes ~/.keras/keras.json
os.environ.pop('KERAS_HOME', None)
os.environ.update(KERAS_BACKEND='tensorflow', CUDA_VISIBLE_DEVICES='', TF_CPP_MIN_LOG_LEVEL='3')
sys.path[0:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.abspath(legacy)]
import kit

kit.CASE.update(stack=stack, api=api, number=os.path.basename(folder)[:3])
with io.open(note, encoding='utf-8') as f:
    kit.CASE['note'] = json.load(f)
with io.open(script, encoding='utf-8') as f:
    source = f.read()
if os.path.exists(folder):
    shutil.rmtree(folder)
os.makedirs(folder)
os.chdir(folder)
# Lambdas hold the file name of their code: a neutral one, not this machine's path.
linecache.cache['train.py'] = (len(source), None, source.splitlines(True), 'train.py')
if sys.version_info[0] == 2:
    source = source.encode('utf-8')
try:
    exec(compile(source, 'train.py', 'exec'), {'__name__': '__main__', '__file__': 'train.py'})
finally:
    shutil.rmtree(home, ignore_errors=True)
