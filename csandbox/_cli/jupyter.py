"""``csandbox jupyter install``: put the kernel beside Jupyter's others."""

from __future__ import annotations

import argparse
import sys

from csandbox._cli.arguments import Usage
from csandbox._cli.console import emit, emit_json
from csandbox._cli.limits import limits_of


def command(options: argparse.Namespace) -> int:
    """Write the kernelspec; 0, or Usage for what cannot be."""
    try:
        from csandbox.jupyter.install import install
    except ImportError as error:
        raise Usage(f"{error}; pip install 'csandbox[jupyter]'") from None
    prefix = sys.prefix if options.sys_prefix else options.prefix
    limits = {name: v for name, v in limits_of(options).to_dict().items() if v is not None}
    try:
        where = install(
            options.profile, limits=limits, name=options.name, user=options.user, prefix=prefix
        )
    except ImportError as error:
        raise Usage(f"{error}; pip install 'csandbox[jupyter]'") from None
    except ValueError as error:
        raise Usage(str(error)) from None
    except OSError as error:
        raise Usage(
            f"the kernelspec cannot be written: {error}; --user or --prefix choose another place"
        ) from None
    if options.json:
        emit_json({"kernel": options.name, "folder": where})
    else:
        emit(f"kernel {options.name} (profile {options.profile}) installed in {where}")
    return 0
