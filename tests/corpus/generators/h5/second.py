"""common.py with GPUs that the stack's own multi_gpu_model believes in."""
from common import *

if os.environ['STRANGER_STACK'] in ('k209', 'k216', 'k224', 'py27k224', 'k231', 'tf20', 'tf22', 'tf23'):
    import fake_gpus
    fake_gpus.install(8)  # before the first weight, for its session
