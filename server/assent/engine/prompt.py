"""The system prompt, in layers (Q8)."""

from assent.engine.config import QueryEngineConfig

DEFAULT = "You are Assent, a coding agent that works inside the user's editor."


def system_prompt(config: QueryEngineConfig) -> tuple[str, ...]:
    layers = [config.custom_system_prompt if config.custom_system_prompt is not None else DEFAULT]
    if config.append_system_prompt:
        layers.append(config.append_system_prompt)
    return tuple(layers)
