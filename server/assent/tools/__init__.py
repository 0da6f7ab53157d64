"""Tools the model can call: the protocol, the registry, one file per tool."""
