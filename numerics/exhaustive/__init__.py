"""Every pair of fp16 numbers: what MRSNorm's last steps do to the phase of each phasor there is.

There are 31,744 finite fp16 numbers that are not negative, so 1,007,681,536 phasors in the first quadrant; the others
follow by symmetry, since division, product and rounding to nearest commute with a change of sign. For a scale S and a
weight gamma all of them are tried. `component` is the map from an input channel to an output channel, `bands` tries the
pairs in bands of rows, `survey` merges the bands and settles in rational numbers what they found.
"""

from numerics.exhaustive.component import PAIRS, VALUES, component, values
from numerics.exhaustive.survey import CASES, Survey, survey

__all__ = ["CASES", "PAIRS", "VALUES", "Survey", "component", "survey", "values"]
