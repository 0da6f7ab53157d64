"""Which hooks there are is asked for every piece of text: that costs the same however many sessions live."""

from collections import Counter

from assent.extensions.hooks.ports import HookPorts
from assent.extensions.hooks.registry import Registry


def test_a_folder_is_looked_at_once_for_all_sessions_that_work_in_it() -> None:
    looked: Counter[str] = Counter()

    def written(folder: str) -> tuple[()]:
        looked[folder] += 1
        return ()

    class Clock:
        """Never the same time twice, so that nothing read before is fresh."""

        now = 0.0

        def __call__(self) -> float:
            self.now += 1_000.0
            return self.now

    folders = ["/one"] * 64 + ["/two"]
    registry = Registry(HookPorts(folders=lambda: folders, written=written), clock=Clock())
    assert registry.events() == set()
    assert looked == {"/one": 1, "/two": 1}
