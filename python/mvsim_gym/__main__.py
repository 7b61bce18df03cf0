"""`python -m mvsim_gym` is the command line `mvsim-gym`."""

import sys

from mvsim_gym.tools.cli import main

sys.exit(main())
