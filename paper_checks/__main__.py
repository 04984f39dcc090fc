"""Where the command line starts, as `paper-checks` and as `python -m paper_checks`.

Ctrl-C is watched for before anything else is imported: the libraries behind the command line take a while to load.
"""

import sys

from paper_checks import interrupt


def main() -> None:
    """Watches for Ctrl-C, then runs the command line."""
    interrupt.watch()
    from paper_checks import cli

    sys.exit(cli.call())


if __name__ == "__main__":
    main()
