"""The embedded stand-in for a model, used when there are no credentials. It is deterministic and needs no network."""

from assent.model.offline.model import make_call_model

__all__ = ["make_call_model"]
