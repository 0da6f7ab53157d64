"""Turns in which something goes wrong at a chosen boundary, checked against a small reference model.

    async with Ground(folder) as ground:
        await Trial(ground, seed).run()

`plan` says what is done and what goes wrong, `steps` has a call of each tool, `outside` what they reach besides files; `planned_model` is the model behind the fake endpoint: a function of the
request alone, so what it knows is what it was shown; `scene` is the folder, the counters and the session's file;
`trial` drives the turns and compares.
"""

from faultkit.plan import FAULTS, Fault
from faultkit.scene import Ground
from faultkit.steps import TOOLS
from faultkit.trial import Trial

__all__ = ["FAULTS", "TOOLS", "Fault", "Ground", "Trial"]
