"""The program: its commands, its own options, and what becomes of errors that get out of a command."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import takewhile

from unnest.cli.command import Command, Option, nearest, wrong_usage
from unnest.cli.streams import LAST_COMPLAINT, StdoutError, complain, flush, print_stdout, silence
from unnest.errors import UsageError
from unnest.signals_and_exit_codes import DONE, INTERRUPTED, TROUBLE

COMMANDS = ("inspect", "fix", "balance")
"""Names of the commands, each with a module of its name, which a run loads for the one that it names."""

EXIT_CODES = (
    "Exit codes: 0 clean; 1 parallel models found, or (--dry-run) something to fix; 2 trouble; "
    "130 interrupted (128 + number of the signal)."
)


def command(name: str) -> Command:
    """Return a command by its name."""
    found: Command = import_module(f"unnest.cli.{name}").COMMAND
    return found


def unnest(
    *,
    version: bool = False,
    verbose: bool = False,
    install_completion: bool = False,
    show_completion: bool = False,
) -> int:
    """Take the single-device model out of multi_gpu_model's graphs, and convert old Keras files to Keras 3."""
    if version and verbose:
        from unnest.cli.bug_report import versions

        print_stdout("\n".join(versions()))
    elif version:
        from unnest import __version__

        print_stdout(f"unnest {__version__}")
    elif install_completion or show_completion:
        from unnest.cli import completion

        shell = completion.current_shell()
        print_stdout(completion.install(shell) if install_completion else completion.script(shell))
    else:
        print_stdout(help_page())
        return TROUBLE
    return DONE


PROGRAM = Command(
    "unnest",
    unnest,
    None,
    (
        Option(("--version",), "Show the version and leave."),
        Option(("--verbose", "-v"), "With --version: all that a bug report needs."),
        Option(("--install-completion",), "Install completion for the current shell."),
        Option(("--show-completion",), "Show completion for the current shell, to copy it."),
    ),
)


def help_page() -> str:
    """Return the help of the program, with its commands."""
    rows = [(name, command(name).help.partition("\n")[0]) for name in COMMANDS]
    return PROGRAM.help_page(("Commands", rows), end=EXIT_CODES)


def run_words(words: Sequence[str]) -> int:
    """Run a command line. Raises UsageError, and what the command raises."""
    before = [*takewhile(lambda word: word.startswith("-"), words)]
    own = PROGRAM.parse(before)
    if "help" in own:
        print_stdout(help_page())
        return DONE
    if len(words) == len(before) or own.keys() - {"verbose"}:
        return unnest(**own)
    name, *rest = words[len(before) :]
    if name not in COMMANDS:
        raise _no_command(name)
    called = command(name)
    values = called.parse(rest)
    if "help" in values:
        print_stdout(called.help_page())
        return DONE
    return called.run(**values)


def _no_command(name: str) -> UsageError:
    if os.path.lexists(name):
        path = shlex.quote(name)
        return UsageError(
            "usage",
            f"{name}: say what to do with it: unnest inspect {path} or unnest fix {path}",
        )
    meant = nearest(name, COMMANDS)
    return wrong_usage(f"no such command '{name}'", "unnest", meant and f"'{meant}'")


def complain_of_memory() -> None:
    """Report that memory ran out, unless a file's error has just said so."""
    if not any("not enough memory" in message for message in LAST_COMPLAINT):
        complain(
            "the machine has not enough memory left; end other programs, or use a larger machine"
        )


def run() -> int:
    """Run this command line and return its exit code. Raises nothing but KeyboardInterrupt."""
    for stream in (sys.stdout, sys.stderr):
        # Names that the terminal's encoding lacks are shown escaped; they are no reason to fail.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # streams of text, both
    # What h5py meets while it lets go of a damaged file's objects has been told, or does not matter any more; it prints
    # it by both hooks. These are functions in C, which take no memory to be called: there may be none.
    sys.unraisablehook = callable
    sys.excepthook = "".format
    try:
        code = run_words(sys.argv[1:])
        flush(sys.stdout)
    except UsageError as e:
        complain(e.message)
        return TROUBLE
    except BrokenPipeError:  # whoever closed the pipe has read enough of the help
        silence(sys.stdout)
        return DONE
    except StdoutError as e:
        silence(sys.stdout)
        complain(f"the report cannot be written to stdout ({e}); what was done is done")
        return TROUBLE
    except OSError as e:  # whatever has to do with a file is in its report
        silence(sys.stdout)
        from unnest.files.os_calls import NO_WORKING_FOLDER, has_working_folder

        complain(
            f"cannot write to stdout ({e.strerror})" if has_working_folder() else NO_WORKING_FOLDER
        )
        return TROUBLE
    except Exception as e:  # noqa: BLE001 - a traceback is a defect, and no help to whoever meets it
        from unnest.files import interrupts

        if interrupts.caused_by_interrupt(e):
            raise KeyboardInterrupt from None
        from unnest.formats.error_translation import out_of_memory

        if out_of_memory(e):
            complain_of_memory()
        else:
            from unnest.inspection import internal

            complain(internal(e))
            from unnest.cli.bug_report import tell_what_to_paste

            tell_what_to_paste()
        return TROUBLE
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    return code
