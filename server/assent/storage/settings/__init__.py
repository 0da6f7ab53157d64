"""Settings: their structure (`structure`), their files (`files`) and the merged view of them (`view`)."""

from assent.storage.settings.files import SettingsFiles, local_file, mcp_file, project_file
from assent.storage.settings.settings_view import Behaviour, HookEntry, Problem, Settings, SourcedRule

__all__ = [
    "Behaviour",
    "HookEntry",
    "Problem",
    "Settings",
    "SettingsFiles",
    "SourcedRule",
    "local_file",
    "mcp_file",
    "project_file",
]
