"""The program: its commands, its own options, and what becomes of errors that get out of a command."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from unnest.cli.skip_startup_work import TypedValues
from unnest.cli.streams import LAST_COMPLAINT, StdoutError, complain, flush, print_stdout, silence
from unnest.errors import UsageError
from unnest.signals_and_exit_codes import DONE, INTERRUPTED, TROUBLE


class _Command(TypedValues, TyperCommand):
    """One command."""

    def get_help(self, ctx: Any) -> str:  # noqa: ANN401 - the parser's
        """Return the help without the braces and types that typer 0.29 puts around the name of an argument."""
        text = re.sub(r"\{(\S+)\}(\.\.\.)?", r"\1", super().get_help(ctx), count=1)
        types = r"^(  [A-Z]\S*)( <[^>\n]+>)(?=  )"
        return re.sub(types, lambda m: m[1] + " " * len(m[2]), text, flags=re.MULTILINE)


class _Commands(TypedValues, TyperGroup):
    """The commands, which know a path where a command is due."""

    def resolve_command(self, ctx, args):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202 - as the parser has it
        """Return the command that the first argument names."""
        if args[0] not in self.commands and os.path.lexists(args[0]):
            path = shlex.quote(args[0])
            raise UsageError(
                "usage",
                f"{args[0]}: say what to do with it: unnest inspect {path} or unnest fix {path}",
            )
        return super().resolve_command(ctx, args)


def options(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and leave.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="With --version: all that a bug report needs.")
    ] = False,
) -> None:
    """Take the single-device model out of saved multi-GPU graphs, and convert old Keras files to Keras 3."""
    if version:
        from unnest import __version__

        if verbose:
            from unnest.cli.bug_report import versions

            print_stdout("\n".join(versions()))
        else:
            print_stdout(f"unnest {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print_stdout(context.get_help())
        raise typer.Exit(TROUBLE)


COMMANDS = ("inspect", "fix", "balance")
"""Each is the function of its name, in the module of its name."""


def program(words: Sequence[str] = ()) -> typer.Typer:
    """Return the program with the one command that the first of these words names, or with all of them.

    To make a command out of its function takes the parser several milliseconds, and a run needs no other.
    """
    app = typer.Typer(
        name="unnest",
        help="Take the single-device model out of saved multi-GPU graphs (multi_gpu_model and its relatives), "
        "and convert old Keras files to Keras 3.",
        epilog="Exit codes: 0 clean; 1 parallel models found, or (--dry-run) something to fix; 2 trouble; "
        "130 interrupted (128 + number of the signal).",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        cls=_Commands,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(options)
    for name in words[:1] if words and words[0] in COMMANDS else COMMANDS:
        run: Callable[..., int] = getattr(import_module(f"unnest.cli.{name}"), name)
        app.command(cls=_Command)(run)
    return app


def wrong_usage(error: Exception) -> str:
    """Return what the parser says of a command line, with what to do, in one line.

    `error` is the parser's, whichever library it comes from: it has `format_message`.
    """
    context = getattr(error, "ctx", None)
    given = [word for word in sys.argv[1:2] if word in COMMANDS]
    command = context.command_path if context is not None else " ".join(["unnest", *given])
    option = getattr(error, "option_name", None)
    if isinstance(possible := getattr(error, "possibilities", None), list) and option is not None:
        import difflib

        near = difflib.get_close_matches(option, possible, 1, 0.7)
        return f"no such option {option}; " + (
            f"did you mean {near[0]}?" if near else f"see {command} --help"
        )
    parameter = getattr(error, "param", None)
    if parameter is not None and parameter.name in ("jobs", "batch_size"):
        return f"{parameter.opts[0]} needs a number, 1 or more"
    said: str = error.format_message()  # type: ignore[attr-defined]  # which the caller has asked for
    message, _, meant = said.rstrip(".?").partition(". Did you mean ")
    advice = f"did you mean {meant}?" if meant else f"see {command} --help"
    return f"{message[:1].lower()}{message[1:]}; {advice}"


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
        # Not the program itself, which puts a hook of its own in the place of this one when it is called.
        code = get_command(program(sys.argv[1:]))(standalone_mode=False)
        flush(sys.stdout)  # what the parser printed
    except typer.Abort:
        raise KeyboardInterrupt from None
    except Exception as e:  # noqa: BLE001 - a traceback is a defect, and no help to whoever meets it
        return _say_what_went_wrong(e)
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    return code if isinstance(code, int) else DONE


def _say_what_went_wrong(error: Exception) -> int:
    """Say in one line on stderr what ended the program, and return its exit code.

    Raises KeyboardInterrupt for an error that an interrupt caused.
    """
    if isinstance(error, UsageError):
        complain(error.message)
    elif isinstance(error, BrokenPipeError):  # whoever closed the pipe has read enough of the help
        silence(sys.stdout)
        return DONE
    elif isinstance(error, StdoutError):
        silence(sys.stdout)
        complain(f"the report cannot be written to stdout ({error}); what was done is done")
    elif isinstance(error, OSError):  # the parser's help; a file's errors are in its report
        silence(sys.stdout)
        from unnest.files.portable_file_operations import NO_WORKING_FOLDER, has_working_folder

        problem = f"cannot write to stdout ({error.strerror})"
        complain(problem if has_working_folder() else NO_WORKING_FOLDER)
    else:
        _say_what_is_unforeseen(error)
    return TROUBLE


def _say_what_is_unforeseen(error: Exception) -> None:
    """Say in one line that memory ran out, how the command is used, or which error of our own it was.

    Raises KeyboardInterrupt for an error that an interrupt caused.
    """
    from unnest.files import interrupts

    if interrupts.caused_by_interrupt(error):
        raise KeyboardInterrupt from None
    from unnest.formats.translate_errors import describe_defect, out_of_memory

    if out_of_memory(error):
        complain_of_memory()
    elif hasattr(error, "format_message"):  # the parser's own, whichever library it comes from
        complain(wrong_usage(error))
    else:
        complain(describe_defect(error))
        from unnest.cli.bug_report import tell_what_to_paste

        tell_what_to_paste()
