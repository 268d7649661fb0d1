"""Put the cases that `make.py --all` makes and `place.py` leaves out where `python -m tests.corpus pack` finds them:

    python3 pack.py OUT

../../spellings/SPELLING/ gets a folder for each case that is not in the first column of ../../index.tsv below `cases/`.
"""
import pathlib
import shutil
import sys

CORPUS = pathlib.Path(__file__).resolve().parents[2]
FIRST, LAST = 100, 749


def spelling(case):
    """`split` of `104-split-sm-tf210-function`, `halves-swapped` of `400-not-halves-swapped-h5-tf23-inline`."""
    words = case.name[4:].removeprefix('not-').split('-')
    at = max(i for i, word in enumerate(words) if word in ('h5', 'sm', 'bare'))
    return '-'.join(words[:at])


def main(out):
    listed = (line.partition('\t')[0] for line in (CORPUS / 'index.tsv').read_text('utf8').splitlines())
    kept = {path.rpartition('/')[2] for path in listed if path.startswith('tests/corpus/cases/')}
    for case in sorted(pathlib.Path(out).iterdir()):
        if case.name[:3].isdigit() and FIRST <= int(case.name[:3]) <= LAST and case.name not in kept:
            shutil.copytree(case, CORPUS / 'spellings' / spelling(case) / case.name, dirs_exist_ok=True)


if __name__ == '__main__':
    main(*sys.argv[1:])
