"""Where definitions and memory files are looked for: the user's folders, plugins, what other programs left."""

from collections.abc import Callable
from pathlib import Path

from assent.extensions.catalogue import Catalogues
from assent.extensions.memory import MemoryFiles
from assent.extensions.places import Surroundings
from assent.extensions.plugins.store import Plugins
from assent.sessions.definitions import Definitions
from assent.sessions.slash.commands import RESERVED
from assent.storage import paths
from assent.storage.files import write_atomically
from assent.storage.trust import TrustStore
from assent.types.blocks import Json

MANAGED_NOTES = Path("/etc/claude-code/CLAUDE.md")


def standard_definitions(*, home: str, trust: TrustStore, plugin_settings: Callable[[], Json]) -> Definitions:
    """`plugin_settings` gives what the user's own settings say of plugins."""
    around = Surroundings(home, str(paths.config_dir()))
    plugins = Plugins(paths.data_dir() / "plugins", write=write_atomically, said=plugin_settings)
    return Definitions(
        catalogues=Catalogues(around, plugins=plugins.places, reserved=RESERVED),
        memory=MemoryFiles(
            user_dirs=(paths.config_dir(),),
            home=Path(home),
            auto=auto_memory_file,
            claude_home=Path(around.claude_home),
            managed=MANAGED_NOTES,
        ),
        plugins=plugins,
        trust=trust,
    )


def auto_memory_file(cwd: str) -> Path:
    """The auto memory of a workspace: among the user's data, never in the repository."""
    return paths.data_dir() / "memory" / paths.workspace_key(cwd) / "MEMORY.md"
