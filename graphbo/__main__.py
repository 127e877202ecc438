"""``python -m graphbo``: the command line, for the Python that is asked."""

from graphbo.cli import main

if __name__ == "__main__":
    main()
