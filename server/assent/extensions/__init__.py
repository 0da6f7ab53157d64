"""Where users extend the engine: hooks, commands, memory, agents."""
