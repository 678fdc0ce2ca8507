"""The colours of nodes: of the dominant class, blue if there is none; by value in a regressor."""

import colorsys
from collections.abc import Sequence
from functools import cache

import numpy as np

MIXED = "#8fb4e8"  # blue, which no class has
UNKNOWN = "#e4e4e4"  # a member of a forest keeps no values at its tests
_CLASSES = [
    "#f2b25c",  # amber
    "#7cc487",  # green
    "#e58a8a",  # red
    "#b79bd9",  # violet
    "#e0d25c",  # yellow
    "#8fc9bd",  # teal
    "#c9a98a",  # brown
    "#eba3cd",  # pink
    "#b3c45c",  # olive
    "#a8a8a8",  # grey
]
MOST_COLOURS = 40  # more classes take them again
_LOW, _HIGH = (0xF6, 0xF0, 0xD8), (0x2F, 0x93, 0x7A)  # straw to green


def class_colours(n_classes: int) -> list[str]:
    """Return a light colour for each class, none of them blue.

    Examples
    --------
    >>> class_colours(2)
    ['#f2b25c', '#7cc487']
    """
    palette = _CLASSES if n_classes <= len(_CLASSES) else _palette()
    return [palette[k % len(palette)] for k in range(n_classes)]


@cache
def _palette() -> list[str]:
    """Return the named colours and more of them, each as far from those before it as can be."""
    hues = [hue / 36 for hue in range(36) if not 0.52 < hue / 36 < 0.7]  # blue means another thing
    lights = (0.45, 0.6, 0.75)
    parts = [colorsys.hls_to_rgb(h, light, s) for h in hues for light in lights for s in (0.4, 0.8)]
    candidates = np.round(255 * np.array(parts)).astype(int)
    chosen = [[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in [MIXED, UNKNOWN, *_CLASSES]]
    while len(chosen) < 2 + MOST_COLOURS:
        apart = np.abs(candidates[:, None] - np.array(chosen)).sum(axis=2).min(axis=1)
        chosen.append(candidates[apart.argmax()].tolist())
    return ["#" + "".join(f"{part:02x}" for part in colour) for colour in chosen[2:]]


def node_colours(values: np.ndarray, is_classifier: bool) -> list[str]:
    """Return the colour of each node of a graph.

    Parameters
    ----------
    values : ndarray of shape (n_nodes, n_outputs)
        Class probabilities, or means.
    is_classifier : bool

    Returns
    -------
    colours : list of str
        In a classifier, that of the class with more than half of the rows, or blue if there is
        none; in a regressor, the darker the larger.
    """
    if is_classifier:
        colours = class_colours(values.shape[1])
        return [_class_colour(p, colours) for p in values]
    value = values[:, 0]
    span = np.ptp(value) or 1.0
    return [_between(share) for share in (value - value.min()) / span]


def _class_colour(p: np.ndarray, colours: Sequence[str]) -> str:
    best = int(np.argmax(p))
    if p[best] > 0.5:
        return colours[best]
    return MIXED if p[best] > 0 else UNKNOWN


def _between(share: float) -> str:
    """Return the colour at a share of the way from the lowest to the highest value."""
    return "#" + "".join(
        f"{round(a + share * (b - a)):02x}" for a, b in zip(_LOW, _HIGH, strict=True)
    )
