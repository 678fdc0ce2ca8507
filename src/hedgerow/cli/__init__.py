"""The command line, ``hedgerow``.

- ``app``: the commands and how they print;
- ``data``: from a name or a file to X and y.

``main`` turns every error into one line on stderr. Exit codes: 0 done, 1 failed, 2 wrong usage,
130 interrupted.
"""

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line and exit."""
    args = sys.argv[1:] if args is None else list(args)
    try:
        from hedgerow.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(
            f"hedgerow: the command line needs {error.name}; "
            'install it with: pip install "hedgerow[cli]"'
        )

    try:
        sys.exit(app(args, prog_name="hedgerow", standalone_mode=False))
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        if "--debug" in args:
            raise
        # Usage errors, and only they, can format themselves and know their exit code.
        usage = hasattr(error, "format_message")
        message = error.format_message() if usage else str(error) or type(error).__name__
        print("hedgerow: error:", " ".join(message.split()), file=sys.stderr)
        sys.exit(error.exit_code if usage else 1)
