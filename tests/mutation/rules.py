"""Promises of SECURITY.md that are broken on purpose, and the tests that must notice: at most 30.

All else is for `python -m tests.mutation.sample`, which needs no copies of code.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Broken:
    """One rule, the code below `unnest/` that upholds it, what stands there instead, and the tests that must notice.

    `old` occurs once in the file; with `new` in its place the file still compiles.
    """

    rule: str
    file: str
    old: str
    new: str
    tests: str


RULES = [
    Broken(
        rule="a lambda's work is bounded",
        file="core/byte_code/machine_errors_and_run_cost.py",
        old="        if self.values > MAX_STACK_WORK:\n",
        new="        if False:\n",
        tests="tests/unit/core/byte_code/test_machine.py",
    ),
    Broken(
        rule="an HDF5 link is never followed",
        file="formats/hdf5/guarded_file.py",
        old="                if kind != h5l.TYPE_HARD:\n",
        new="                if False:\n",
        tests="tests/attacks/test_hostile_h5.py::test_refused",
    ),
    Broken(
        rule="an HDF5 tree is no deeper than its bound",
        file="formats/hdf5/guarded_file.py",
        old="                    if depth >= MAX_GROUP_DEPTH:\n",
        new="                    if False:\n",
        tests="tests/attacks/test_hostile_h5.py::test_refused",
    ),
    Broken(
        rule="a virtual dataset is refused",
        file="formats/hdf5/guarded_file.py",
        old="        if layout == h5d.VIRTUAL:\n",
        new="        if False:\n",
        tests="tests/attacks/test_hostile_h5.py::test_refused",
    ),
    Broken(
        rule="a dataset stored in another file is refused",
        file="formats/hdf5/guarded_file.py",
        old="        if properties.get_external_count():\n",
        new="        if False:\n",
        tests="tests/attacks/test_hostile_h5.py::test_refused",
    ),
    Broken(
        rule="a compressed dataset declares what was stored",
        file="formats/hdf5/guarded_file.py",
        old="        elif declared > max(UNCHECKED_DATASET_BYTES, stored * MAX_EXPANSION):\n",
        new="        elif False:\n",
        tests="tests/attacks/test_hostile_h5.py::test_refused",
    ),
    Broken(
        rule="stored code is read to a depth only",
        file="core/byte_code/read_code_objects.py",
        old="        if depth > MAX_CONSTANT_DEPTH:\n",
        new="        if False:\n",
        tests="tests/unit/core/byte_code/test_read_code_objects.py "
        "tests/unit/core/wrappers/stored_code/test_lambda_code_facts.py",
    ),
    Broken(
        rule="references in stored code may not stand for more than its bytes",
        file="core/byte_code/read_code_objects.py",
        old="        if self._objects > MAX_SHARING * len(self._data):\n",
        new="        if False:\n",
        tests="tests/unit/core/byte_code/test_read_code_objects.py::test_objects_are_counted_behind_references",
    ),
    Broken(
        rule="steps that are used up are an error",
        file="budget.py",
        old="        if budget.steps < 0:\n",
        new="        if False:\n",
        tests="tests/unit/test_budget.py tests/attacks/test_budget.py",
    ),
    Broken(
        rule="memory that is used up is an error",
        file="budget.py",
        old="        if budget.memory < 0:\n",
        new="        if False:\n",
        tests="tests/unit/test_budget.py tests/attacks/test_budget.py",
    ),
    Broken(
        rule="texts of variable length are no longer than their heap",
        file="formats/hdf5/heap_check.py",
        old="            if length > stored:\n",
        new="            if False:\n",
        tests="tests/unit/formats/hdf5/test_heap_check.py",
    ),
    Broken(
        rule="a heap is walked with an end",
        file="formats/hdf5/heap_check.py",
        old="            if not OBJECT_HEAD <= step <= total - offset or index in contents:\n",
        new="            if index in contents and index:\n",
        tests="tests/unit/formats/hdf5/test_heap_check.py",
    ),
    Broken(
        rule="a heap lies in the file",
        file="formats/hdf5/heap_check.py",
        old="        if total > self.size - address:\n",
        new="        if False:\n",
        tests="tests/unit/formats/hdf5/test_heap_check.py",
    ),
    Broken(
        rule="an attribute in dense storage is not read",
        file="formats/hdf5/heap_check.py",
        old='        raise Unsafe("is kept outside of its object\'s header")\n',
        new="        return bytes(count * REFERENCE)\n",
        tests="tests/unit/formats/hdf5/test_heap_check.py",
    ),
    Broken(
        rule="a member's name stays in its folder",
        file="formats/keras3/guarded_zip.py",
        old='        or ".." in re.split(r"[/\\\\]", name)\n',
        new="",
        tests="tests/attacks/test_hostile_containers.py::test_zip_member_names",
    ),
    Broken(
        rule="a member is there once",
        file="formats/keras3/guarded_zip.py",
        old="        if info.filename in names:\n",
        new="        if False:\n",
        tests="tests/attacks/test_hostile_containers.py::test_zip_member_names",
    ),
    Broken(
        rule="a member is no link",
        file="formats/keras3/guarded_zip.py",
        old="    if stat.S_ISLNK(info.external_attr >> 16):\n",
        new="    if False:\n",
        tests="tests/attacks/test_hostile_containers.py::test_zip_link",
    ),
    Broken(
        rule="a member wants no password",
        file="formats/keras3/guarded_zip.py",
        old="    if info.flag_bits & ENCRYPTED:\n",
        new="    if False:\n",
        tests="tests/attacks/test_hostile_containers.py::test_zip_encrypted",
    ),
    Broken(
        rule="members share no bytes",
        file="formats/keras3/guarded_zip.py",
        old="        elif info.header_offset < end:\n",
        new="        elif False:\n",
        tests="tests/attacks/test_hostile_containers.py::test_zip_members_that_share_bytes",
    ),
    Broken(
        rule="members claim no more than weights could",
        file="formats/keras3/guarded_zip.py",
        old="    if unpacked > max(SMALL, size * MAX_EXPANSION):\n",
        new="    if False:\n",
        tests="tests/attacks/test_hostile_containers.py::test_zip_bomb",
    ),
    Broken(
        rule="weights are held against their checksum",
        file="formats/keras3/keras_zip.py",
        old="        if crc32_of(self._file, start, info.file_size) != info.CRC:\n",
        new="        if False:\n",
        tests="tests/attacks/test_hostile_containers.py::test_zip_checksum_of_the_weights",
    ),
    Broken(
        rule="an input is never replaced",
        file="files/overwrite_checks.py",
        old="        if identity in inputs.named:\n",
        new="        if False:\n",
        tests="tests/unit/files/test_overwrite_checks.py",
    ),
    Broken(
        rule="a folder that holds something else is never replaced",
        file="files/overwrite_checks.py",
        old="    if foreign_entry is not None:\n",
        new="    if False:\n",
        tests="tests/files/test_force.py::test_refused",
    ),
    Broken(
        rule="a link in a staging folder's place is not followed",
        file="files/staging_folder.py",
        old="    return is_folder(path) and (not",
        new="    return os.path.isdir(path) and (not",
        tests="tests/files/test_staging_folder.py::TestLock",
    ),
    Broken(
        rule="a journal names plain files only",
        file="files/staging_folder.py",
        old='    if os.path.basename(name) != name or name in ("", ".", ".."):\n',
        new="    if False:\n",
        tests="tests/files/test_staging_folder.py::TestParts::test_a_journal_that_climbs_out",
    ),
    Broken(
        rule="a step is noted before it is taken",
        file="files/staging_folder.py",
        old=(
            "        self._steps.append((source_path, target))\n"
            "        portable_file_operations.rename_new(source_path, target)\n"
        ),
        new=(
            "        portable_file_operations.rename_new(source_path, target)\n"
            "        self._steps.append((source_path, target))\n"
        ),
        tests="tests/files/test_no_memory.py::test_a_step_that_was_taken",
    ),
    Broken(
        rule="a file is read back before it gets its name",
        file="files/write_output_atomically.py",
        old="        sync.writing_is_over()\n        check(path)\n",
        new="        sync.writing_is_over()\n",
        tests="tests/files/test_atomic.py::TestTrouble::test_in_the_long_parts",
    ),
    Broken(
        rule="what cannot be synced gets no name",
        file="files/background_sync.py",
        old="        if error is None and self.error is not None:\n            raise self.error\n",
        new="",
        tests="tests/files/test_no_memory.py::test_a_sync_that_fails",
    ),
    Broken(
        rule="a backup is never replaced",
        file="files/replace_input.py",
        old="            if not _is_backup(backup, target):\n                new_status,",
        new="            if not os.path.lexists(backup):\n                new_status,",
        tests="tests/files/test_atomic.py::TestReplace",
    ),
    Broken(
        rule="an input that changed meanwhile stays",
        file="files/replace_input.py",
        old="            if read is None or not read.is_of(target):\n",
        new="            if read is None:\n",
        tests="tests/files/test_changed_input.py::test_in_place",
    ),
]
