"""run_case.py NUMBER OUT: makes one case with this interpreter's software."""
import os
import sys
import types

here = os.path.dirname(os.path.abspath(__file__))
for name in ("common", "templates", "wrap_keras3", "wrap_keras2", "conversions", "lookalikes"):
    # compiled under a bare name: stored lambdas carry the file name of their code
    module = sys.modules[name] = types.ModuleType(name)
    with open(os.path.join(here, name + ".py")) as f:
        exec(compile(f.read(), name + ".py", "exec"), module.__dict__)

common = sys.modules["common"]
if sys.argv[1] == "--list":
    for n in sorted(common.REGISTRY):
        print(n, common.REGISTRY[n][1])
else:
    common.run(int(sys.argv[1]), sys.argv[2])
