"""What the server serves: one module per family, each a few decorated functions.

To serve one more method, write its row in `assent.wire`, a function with `@server.feature(…)` in a module here, and run
`make protocol`. Modules are found by `load`, so there is no list to extend. They must load fast and without
lsprotocol, because `assent/*` is served before it is there: its types are imported for annotations only.
"""

import importlib
import pkgutil


def load() -> None:
    """Import every module of this package, which fills the table of `registry`."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
