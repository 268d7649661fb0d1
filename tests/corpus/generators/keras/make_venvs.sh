#!/bin/sh
# make_venvs.sh TF215 VENVS: Keras 3.0.5, 3.3.3 and 3.6.0 in front of the stack tf215's TensorFlow 2.15
set -e
tf215=$1; venvs=$2; mkdir -p "$venvs"
for pair in k305=3.0.5 k333=3.3.3 k360=3.6.0; do
    dir="$venvs/${pair%%=*}"
    "$tf215/bin/python" -m venv "$dir"
    "$dir/bin/python" -m pip install -q --no-deps keras==${pair##*=} optree dm-tree rich namex typing_extensions markdown-it-py mdurl pygments
    site=$("$dir/bin/python" -c 'import site; print(site.getsitepackages()[0])')
    ls -d "$tf215"/lib/python3.*/site-packages > "$site/zz_tf215.pth"
done
