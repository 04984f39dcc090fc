"""Lets `python -m paper_checks` stand for `paper-checks`."""

from paper_checks.cli import main

if __name__ == "__main__":
    main()
