"""A few SVG shapes, and axes with round ticks.

Colours come from the page's style sheet through classes, so that one picture serves light, dark and
paper. Everything that is text is escaped here.
"""

import math
import re
from collections.abc import Iterable
from html import escape

WIDTH = 380  # of a chart; small enough to stay readable on a phone
EM = 0.57  # mean width of a character, in units of the font size


def tag(name: str, content: str = "", /, **attributes: object) -> str:
    """Return an element; underscores in attribute names become hyphens, floats are rounded."""
    written = "".join(
        f' {key.strip("_").replace("_", "-")}="{escape(_plain(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


def text(content: object, x: float, y: float, **attributes: object) -> str:
    """Return a text element."""
    return tag("text", escape(str(content)), x=x, y=y, **attributes)


def title(content: object) -> str:
    """Return the tooltip of the element it is put into."""
    return tag("title", escape(str(content)))


def picture(content: Iterable[str], height: float, label: str, width: float = WIDTH) -> str:
    """Return a whole picture that scales to its container, with a label for screen readers."""
    return tag(
        "svg",
        "".join(content),
        viewBox=f"0 0 {_plain(float(width))} {_plain(float(height))}",
        role="img",
        aria_label=label,
        class_="chart",
        xmlns="http://www.w3.org/2000/svg",
    )


def clip(content: object, width: float, size: float = 12) -> str:
    """Return a text cut to a width, with an ellipsis; of a test the name is cut."""
    content = str(content)
    most = max(int(width / (size * EM)), 2)
    if len(content) <= most:
        return content
    name, test = re.fullmatch(r"(.+?)( (?:<=|>|=|!=) \S+)?", content).groups("")  # type: ignore
    if most < len(test) + 4:
        name, test = content, ""
    return name[: most - 1 - len(test)].rstrip() + "…" + test


def _plain(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


class Axis:
    """From numbers to places, linear or logarithmic, with round ticks.

    Parameters
    ----------
    values : iterable of float
        What has to be in view.
    start, end : float
        Places of the smallest and the largest number.
    log : bool, default=False
    pad : float, default=0.06
        Room at both ends, as a share of the length.

    Examples
    --------
    >>> axis = Axis([0, 10], 0, 100, pad=0)
    >>> axis(5), [label for _, label in axis.ticks(5)]
    (50.0, ['0', '2', '4', '6', '8', '10'])
    """

    def __init__(
        self,
        values: Iterable[float],
        start: float,
        end: float,
        log: bool = False,
        pad: float = 0.06,
    ):
        self.log = log
        shown = [self._scale(value) for value in values]
        self.low, self.high = min(shown), max(shown)
        if self.high - self.low < 1e-12 * max(1.0, abs(self.high)):
            half = 0.5 if log or self.high == 0 else abs(self.high) / 20
            self.low, self.high = self.low - half, self.high + half
        room = pad * (self.high - self.low)
        self.low, self.high = self.low - room, self.high + room
        self.start, self.end = start, end

    def _scale(self, value: float) -> float:
        return math.log10(max(value, 1e-12)) if self.log else float(value)

    def __call__(self, value: float) -> float:
        share = (self._scale(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self, most: int = 5) -> list[tuple[float, str]]:
        """Return places and labels of at most about `most` round numbers."""
        if self.log and self.high - self.low > 0.8:
            exponents = range(math.floor(self.low), math.ceil(self.high) + 1)
            is_narrow = self.high - self.low < 2.5
            every = math.ceil((self.high - self.low) / most)
            values = [
                m * 10.0**e for e in exponents[::every] for m in ((1, 2, 5) if is_narrow else (1,))
            ]
            inside = [v for v in values if self.low <= math.log10(v) <= self.high]
            return [(self(v), short(v)) for v in inside]
        low, high = (10**self.low, 10**self.high) if self.log else (self.low, self.high)
        step = _round_step((high - low) / most)
        first = math.ceil(low / step - 1e-9)
        values = [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]
        digits = max(0, -math.floor(math.log10(step) + 1e-9))
        return [
            (self(v), short(v) if abs(v) >= 1000 else f"{v:.{digits}f}")
            for v in values
            if not self.log or v > 0
        ]


def _round_step(step: float) -> float:
    """Return 1, 2 or 5 times a power of ten, at least `step`."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= step * (1 - 1e-9))


def short(value: float) -> str:
    """Return a number in a few characters.

    Examples
    --------
    >>> short(0.5), short(1234), short(2_500_000)
    ('0.5', '1.2k', '2.5M')
    """
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return (
                f"{value / size:.3g}{unit}"
                if abs(value) >= 100 * size
                else (f"{value / size:.2g}{unit}")
            )
    return f"{value:.3g}"


def human(value: float) -> str:
    """Return a number in four digits and as people write it.

    Examples
    --------
    >>> human(206855.8), human(0.00123456), human(67320.4), human(1.5e-9)
    ('206,900', '0.001235', '67,320', '1.5e-09')
    """
    rounded = float(f"{value:.4g}")
    if rounded and not 1e-6 < abs(rounded) < 1e15:
        return f"{rounded:g}"
    text = f"{rounded:,.12f}"
    return text.rstrip("0").rstrip(".")


def label_points(
    points: list[tuple[float, float, str]], box: tuple[float, float, float, float], size: float = 11
) -> list[tuple[float, float, str, str]]:
    """Find places for the names of points where they cover no point and no other name.

    Parameters
    ----------
    points : list of (x, y, name)
        The most important first; those for which there is no room get no name.
    box : (left, top, right, bottom)
        What the names must not leave.
    size : float, default=11
        Font size.

    Returns
    -------
    labels : list of (x, y, anchor, name)
    """
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y, _ in points]
    labels = []
    for x, y, name in points:
        width = len(name) * size * EM + 2
        for dx, dy, anchor in (
            (8, 4, "start"),
            (-8, 4, "end"),
            (0, -9, "middle"),
            (0, 9 + size * 0.8, "middle"),
            (7, -8, "start"),
            (-7, -8, "end"),
            (7, 8 + size * 0.8, "start"),
            (-7, 8 + size * 0.8, "end"),
        ):
            left = x + dx - {"start": 0, "middle": width / 2, "end": width}[anchor]
            area = (left, y + dy - size, left + width, y + dy + size * 0.25)
            inside = box[0] <= area[0] and box[1] <= area[1] and area[2] <= box[2]
            if inside and area[3] <= box[3] and not any(_overlap(area, t) for t in taken):
                taken.append(area)
                labels.append((x + dx, y + dy, anchor, name))
                break
    return labels


def _overlap(a: tuple, b: tuple) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
