"""``python -m csandbox`` and the ``csandbox`` command."""

import sys

from csandbox._cli import main

if __name__ == "__main__":
    sys.exit(main())
