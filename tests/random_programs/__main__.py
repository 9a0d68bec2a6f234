"""python -m random_programs: a long run."""

import sys

from random_programs.long_run import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
