"""What the settings and the models say of an engine, added to what the user chose for the session."""

from dataclasses import replace

from assent.context.microcompact import endpoint_edit
from assent.context.thresholds import thresholds
from assent.engine.config import BackgroundCall, EngineConfig
from assent.model.choice import Models
from assent.sessions.definitions import Definitions
from assent.storage.settings import Settings
from assent.types.blocks import Json

BACKGROUND_CALLS: tuple[BackgroundCall, ...] = ("summary", "collapse", "suggestion", "memory", "dream")
CACHE_LIFE = {"5m": 300.0, "1h": 3600.0, "off": 0.0}  # seconds


def configured(
    config: EngineConfig, settings: Settings, *, models: Models, definitions: Definitions, bare: bool
) -> EngineConfig:
    wanted = settings.typed.background_calls
    return replace(
        _styled(config, settings, definitions),
        small_model=settings.get("smallModel") or models.small_model,
        memory=settings.typed.memory,
        background_calls=frozenset(call for call in BACKGROUND_CALLS if getattr(wanted, call)),
        bare=bare,
        cache_seconds=CACHE_LIFE[models.cache],
        context_edits=_context_edits(models, config.model, settings),
        persistent=settings.typed.persistent_retry,
        key_source=models.credentials.source,
    )


def _styled(config: EngineConfig, settings: Settings, definitions: Definitions) -> EngineConfig:
    """With the output style that the settings name; a system prompt that the caller gave stays as it is."""
    style = definitions.of(config.cwd).style(str(settings.get("outputStyle") or ""))
    if style is None or not style.prompt or config.custom_system_prompt is not None:
        return config
    if not style.keep_coding_instructions:
        return replace(config, custom_system_prompt=style.prompt)
    layers = [layer for layer in (style.prompt, config.append_system_prompt) if layer]
    return replace(config, append_system_prompt="\n\n".join(layers))


def _context_edits(models: Models, model: str, settings: Settings) -> tuple[Json, ...]:
    """The content that the endpoint is asked to clear from the model's view, where the user says that it can (C3)."""
    if models.offline or not settings.typed.context_edits:
        return ()
    return (endpoint_edit(thresholds(models.info(model))),)
