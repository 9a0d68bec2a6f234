"""`python -m warplens`: the command `warplens`."""

import sys

from warplens.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
