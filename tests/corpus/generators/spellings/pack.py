"""Put the cases that `make.py --all` makes and `place.py` leaves out into an archive for each spelling:

    python3 pack.py OUT

../../spellings/SPELLING.tar.xz holds a folder for each case that ../../cases has not; the same cases give the same bytes.
"""
import io
import pathlib
import sys
import tarfile

CORPUS = pathlib.Path(__file__).resolve().parents[2]
FIRST, LAST = 100, 749


def spelling(case):
    """`split` of `104-split-sm-tf210-function`, `halves-swapped` of `400-not-halves-swapped-h5-tf23-inline`."""
    words = case.name[4:].removeprefix('not-').split('-')
    at = max(i for i, word in enumerate(words) if word in ('h5', 'sm', 'bare'))
    return '-'.join(words[:at])


def pack(cases, target):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode='w:xz', preset=9) as archive:
        for path in sorted(p for case in cases for p in case.rglob('*') if p.is_file()):
            member = tarfile.TarInfo(path.relative_to(cases[0].parent).as_posix())
            member.size = path.stat().st_size
            with path.open('rb') as file:
                archive.addfile(member, file)
    target.write_bytes(made.getvalue())


def main(out):
    rows = {}
    for case in sorted(pathlib.Path(out).iterdir()):
        kept = any((container / case.name).exists() for container in (CORPUS / 'cases').iterdir())
        if case.name[:3].isdigit() and FIRST <= int(case.name[:3]) <= LAST and not kept:
            rows.setdefault(spelling(case), []).append(case)
    for name, cases in rows.items():
        pack(cases, CORPUS / 'spellings' / (name + '.tar.xz'))
        print('%-40s %2d cases' % (name, len(cases)))


if __name__ == '__main__':
    main(*sys.argv[1:])
