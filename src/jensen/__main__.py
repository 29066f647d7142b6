"""`python -m jensen` is the command line."""

import sys

from jensen.cli import main

sys.exit(main())
