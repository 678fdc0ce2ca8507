"""The command line, ``hedgerow``.

- ``app``: the list of commands; one module for each, or for two that belong together;
- ``options``: what they share.

``main`` turns every error into one line on stderr. Exit codes: 0 done, 1 failed, 2 wrong usage,
130 interrupted.
"""

import os
import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line and exit."""
    args = sys.argv[1:] if args is None else list(args)
    try:
        from hedgerow.cli.app import app

        sys.exit(app(args, prog_name="hedgerow", standalone_mode=False))
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # who reads the output has seen enough
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        sys.exit(0)
    except Exception as error:
        if "--debug" in args:
            raise
        missing = str(getattr(error, "name", "")).partition(".")[0]
        if isinstance(error, ModuleNotFoundError) and missing in ("typer", "rich"):
            sys.exit(
                f"hedgerow: the command line needs {missing}; "
                'install it with: pip install "hedgerow[cli]"'
            )
        # Usage errors, and only they, format themselves and know their exit code.
        message = getattr(error, "format_message", error.__str__)() or type(error).__name__
        print("hedgerow: error:", " ".join(message.split()), file=sys.stderr)
        sys.exit(getattr(error, "exit_code", 1))
