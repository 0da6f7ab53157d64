"""Commands, skills, agents, styles and memory of each folder, as far as its trust lets them count.

Joins what `extensions` reads with what `storage` knows of trust. Loading happens in a thread; `of` gives what was
loaded last, at once. Not aware of sessions: those ask for their folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import anyio.to_thread

from assent.extensions.catalogue import Activation, Catalogue, Catalogues
from assent.extensions.hooks.handlers import HookOrigin
from assent.extensions.hooks.ports import Written
from assent.extensions.memory import MemoryFiles
from assent.extensions.plugins.options import by_environment
from assent.extensions.plugins.parts import parts_of, problems_of
from assent.extensions.plugins.store import Plugins
from assent.sessions.mcp import PluginServer
from assent.storage.activation import TrustItem
from assent.storage.trust import FolderTrust, TrustStore
from assent.types.blocks import Json


@dataclass(frozen=True, slots=True)
class _Word:
    """A folder's trust as the catalogue asks for it."""

    said: FolderTrust

    @property
    def trusted(self) -> bool:
        return self.said.trusted

    def approves(self, activation: Activation, /) -> bool:
        return self.said.approves(item_of(activation))


def item_of(activation: Activation) -> TrustItem:
    return TrustItem(kind=activation.kind, name=activation.name, value=activation.value, file=activation.file)


class Definitions:
    def __init__(self, *, catalogues: Catalogues, memory: MemoryFiles, plugins: Plugins, trust: TrustStore) -> None:
        self._catalogues = catalogues
        self.memory = memory
        self.plugins = plugins
        self._trust = trust
        self._items: dict[str, tuple[TrustItem, ...]] = {}
        self._loaded: dict[str, tuple[FolderTrust, Catalogue]] = {}

    async def load(self, cwd: str) -> Catalogue:
        """As the files are now."""
        return await anyio.to_thread.run_sync(self.load_now, cwd, abandon_on_cancel=True)

    def load_now(self, cwd: str, *, nested: str = "") -> Catalogue:
        said = self._trust.of(cwd)
        catalogue = self._catalogues.load(cwd, _Word(said), nested=nested)
        self._loaded[cwd] = (said, catalogue)
        items = tuple(item_of(activation) for activation in catalogue.activations)
        if items != self._items.get(cwd):
            self._items[cwd] = items
        return catalogue

    def of(self, cwd: str) -> Catalogue:
        """As they were when they were loaded last, under the trust of now; an empty one before that."""
        known = self._loaded.get(cwd)
        if known is None:
            return Catalogue()
        if known[0] != self._trust.of(cwd):  # what was withheld may count now, and the other way round
            return self.load_now(cwd)
        return known[1]

    def nested(self, cwd: str, path: str) -> Catalogue:
        """Also with the skills of the folders between the working directory and a file that was touched."""
        return self._catalogues.load(cwd, _Word(self._trust.of(cwd)), nested=path)

    def plugin_rows(self) -> list[Json]:
        """`assent/plugin/list`."""
        active, notices = self.plugins.active()
        usable = {plugin.name: plugin for plugin in active}
        wrong = {notice.file: notice.text for notice in notices}
        rows: list[Json] = []
        for each in self.plugins.installed():
            row: Json = {
                "name": each.name,
                "version": each.version,
                "source": each.source,
                "enabled": each.enabled,
                "parts": [],
            }
            plugin, why = usable.get(each.name), wrong.get(self.plugins.root(each))
            if plugin is not None:
                row["parts"] = parts_of(plugin)
                told = [notice.text for notice in notices if notice.file == plugin.root]
                lacking = [text for text in told if text not in plugin.problems]  # values that it asks for
                if problems := [*lacking, *problems_of(plugin)]:
                    row["problems"] = problems
            elif why:
                row["withheld"] = why
            rows.append(row)
        return rows

    def plugin_hooks(self) -> list[Written]:
        """Hooks of the plugins that are enabled and whole; the user saw them when they installed the plugin."""
        return [
            Written(
                event=event,
                entry=by_environment(entry),
                origin=HookOrigin(
                    file=plugin.hooks_file,
                    source="plugin",
                    line=plugin.hook_lines.get(f"{event}[{at}]", 0),
                    foreign=True,
                    environment=self.plugins.variables(plugin),
                ),
            )
            for plugin in self.plugins.active()[0]
            if not self.plugins.incomplete(plugin)
            for event, entries in plugin.hooks.items()
            for at, entry in enumerate(cast("list[Json]", entries))
        ]

    def plugin_servers(self) -> list[PluginServer]:
        """MCP servers of the plugins that are enabled and whole."""
        return [
            PluginServer(
                plugin=plugin.name,
                name=name,
                entry=cast("Json", by_environment(entry)),
                file=plugin.root,
                variables=self.plugins.variables(plugin),
            )
            for plugin in self.plugins.active()[0]
            if not self.plugins.incomplete(plugin)
            for name, entry in plugin.servers.items()
        ]

    def items(self, cwd: str) -> Sequence[TrustItem]:
        """What trusting the folder would activate, as far as it was loaded."""
        return self._items.get(cwd, ())
