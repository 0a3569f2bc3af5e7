"""The entry point: runs a command, and turns what happens into a sentence and an exit code."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

from sparseksc._text import escaped
from sparseksc.cli.pipes import silence
from sparseksc.cli.signals import install_handlers
from sparseksc.data.atomic import remove_own

DONE, FAILED, WRONG_USE, INTERRUPTED = 0, 1, 2, 130
#: Variable in which a shell asks for completions.
COMPLETION = "_KSC_COMPLETE"


def entry() -> None:
    """Run ``ksc`` as a program."""
    # First of all: from here on no signal leaves a file behind.
    install_handlers()
    # Started without an output, a program has none to write to.
    sys.stdout = sys.stdout or open(os.devnull, "w")
    sys.stderr = sys.stderr or open(os.devnull, "w")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        sys.exit(main(sys.argv[1:]))
    finally:
        remove_own()


def main(arguments: Sequence[str]) -> int:
    """Run one command line and return the exit code.

    Examples
    --------
    >>> from sparseksc.cli.main import main
    >>> main(["--version"])
    ksc ...
    0
    """
    debug = "--debug" in arguments
    try:
        code = _run(list(arguments))
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has seen enough.
        silence(sys.stdout)
        return DONE
    except Exception as error:
        if debug:
            raise
        _complain(_sentence(error))
        try:
            sys.stdout.flush()
        except OSError:
            silence(sys.stdout)
        return FAILED


def _run(arguments: list[str]) -> int:
    try:
        import click
        import rich  # noqa: F401 - the commands need it
        from click.shell_completion import shell_complete
    except ImportError:
        _complain("The command line needs click and rich: pip install 'sparseksc[cli]'.")
        return FAILED
    from sparseksc.cli.program import ksc

    # Not through click's own main, which has other exit codes for interruptions and pipes.
    instruction = os.environ.get(COMPLETION)
    if instruction:
        return shell_complete(ksc, {}, "ksc", COMPLETION, instruction)
    try:
        with ksc.make_context("ksc", arguments) as context:
            ksc.invoke(context)
        return DONE
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message(), file=sys.stderr)
        return WRONG_USE
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else "ksc"
        _complain(f"{_one_line(error.format_message())} See '{where} --help'.")
        return WRONG_USE


def _sentence(error: Exception) -> str:
    """Say in one line what went wrong."""
    if isinstance(error, OSError) and error.strerror and error.errno is not None:
        name = escaped(error.filename) if isinstance(error.filename, str) else None
        return f"{name}: {error.strerror}." if name else f"{error.strerror}."
    if isinstance(error, MemoryError) and not error.args:
        return "There is not enough memory for this: choose fewer columns or a lower --max-rank."
    text = _one_line(str(error)) or type(error).__name__
    if isinstance(error, ValueError | OSError | ImportError | MemoryError | RuntimeError):
        return text
    # Not foreseen: say what kind it is, and where to look.
    return f"{type(error).__name__}: {text} (--debug shows where)"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _complain(sentence: str) -> None:
    sentence = escaped(sentence)
    try:
        from sparseksc.cli.console import error_console

        error_console().print("[bold red]ksc:[/]", end=" ")
        error_console().print(sentence, markup=False)
    except ImportError:
        print(f"ksc: {sentence}", file=sys.stderr)
