"""Where each reduction begins, from a model's window alone (L4, C3–C5).

200,000 window
180,000 effective: the window less room for a summary, min(max_output, 20,000)
177,000 blocking: no call goes out above this
167,000 autocompact
150,300 collapses are committed, people are warned (0.9 of autocompact)
133,600 microcompact, also while the cache is warm; old spans are summarised in the background and staged (0.8)
"""

from dataclasses import dataclass

from assent.types.ports import ModelInfo

SUMMARY_ROOM = 20_000
AUTOCOMPACT_BUFFER = 13_000
BLOCKING_BUFFER = 3_000
COMMIT_SHARE = 0.9
WARNING_SHARE = 0.9
MICROCOMPACT_SHARE = 0.8
STAGE_SHARE = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    window: int
    effective: int
    blocking: int
    autocompact: int

    @property
    def commit_collapses(self) -> int:
        return int(self.autocompact * COMMIT_SHARE)

    @property
    def warning(self) -> int:
        return int(self.autocompact * WARNING_SHARE)

    @property
    def microcompact(self) -> int:
        return int(self.autocompact * MICROCOMPACT_SHARE)

    @property
    def stage_collapses(self) -> int:
        return int(self.autocompact * STAGE_SHARE)


def thresholds(info: ModelInfo) -> Thresholds:
    """Windows too small for the buffers keep some order between the marks instead of going below zero."""
    window = max(info.context_window, 1)
    effective = max(window - min(info.max_output_tokens, SUMMARY_ROOM), window // 2)
    blocking = max(effective - BLOCKING_BUFFER, effective * 9 // 10)
    autocompact = max(effective - AUTOCOMPACT_BUFFER, effective // 2)
    return Thresholds(window=window, effective=effective, blocking=blocking, autocompact=autocompact)
