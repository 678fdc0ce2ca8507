"""Cells of a table as people write them: what is missing, a number, a date, a yes or a no.

Everything here is about single words, and the same in training and in prediction. What a whole
column is, is decided in ``hedgerow.datasets.cleaning``.
"""

import re
import unicodedata
from datetime import datetime
from typing import NamedTuple

# Folded words that mean "nothing is known", wherever they stand.
MISSING = frozenset({
    "", "?", "??", "-", "--", "---", "\u2013", "\u2014", "n/a", "#n/a", "#n/a n/a", "n.a.",
    "nan", "-nan", "null", "(null)", "<na>", "\\n", "(blank)", "nat", "#div/0!", "#value!",
    "#ref!", "#name?", "#num!", "#null!", "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan",
})  # fmt: skip
# Words that mean it where all others are numbers, dates, or yes and no.
MISSING_BESIDE_NUMBERS = MISSING | {
    "na", "none", "nil", "missing", "unknown", "not available", "k.a.", "tbd", ".", "*",
    "inf", "-inf", "+inf", "infinity", "-infinity",
}  # fmt: skip
_NO_DATE = re.compile(r"0{1,4}[-./]0{1,2}[-./]0{1,4}.*")

_CURRENCY_OF = {
    "EUR": "€", "USD": "$", "US$": "$", "GBP": "£", "JPY": "¥", "INR": "₹", "RS.": "₹", "RS": "₹",
}  # fmt: skip
_CURRENCY_WORDS = frozenset({
    "CHF", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "RON", "CAD", "AUD", "NZD", "CNY", "BRL",
    "ZAR", "MXN", "TRY", "ILS", "SGD", "HKD", "KR", "KR.", "ZŁ", "KČ", "FT", "FR.", "R$", "A$",
    "C$", "NZ$", "HK$", "S$",
})  # fmt: skip
_GROUPS = {".": "[,'’ ]", ",": "[.'’ ]"}  # signs between thousands, by the decimal mark
_BODY = {
    mark: rf"[1-9]\d{{0,2}}(?:(?P<group>{groups})\d{{3}})(?:(?P=group)\d{{3}})*(?:{point}\d*)?"
    rf"|\d+(?:{point}\d*)?|{point}\d+"
    for mark, groups, point in ((".", _GROUPS["."], r"\."), (",", _GROUPS[","], ","))
}
_NUMBER = {
    mark: re.compile(
        r"(?P<open>\()?(?P<sign>[+-])? ?(?P<before>[^\d\s.,()'’+-]{1,3}\.?|[^\W\d]{2,3}\$?)? ?"
        rf"(?P<inner>[+-])?(?P<body>{body})(?P<exponent>[eE][+-]?\d{{1,3}})? ?"
        r"(?P<after>[^\d\s.,()'’+-]{1,12}\.?)?(?P<behind>-)?(?P<close>\))?"
    )
    for mark, body in _BODY.items()
}
CODE = re.compile(r"\+?\d+")
LEADING_ZERO = re.compile(r"\+?0\d+")
_TIME = re.compile(r"(\d{1,3}):([0-5]\d)(?::([0-5]\d)(?:[.,]\d+)?)?")

# Words for yes and for no that occur together, folded; the first of each pair is the plainest.
_ANSWERS = (
    {"yes": "no", "y": "n", "true": "false", "t": "f", "1": "0"},
    {"on": "off", "1": "0"},
    {"ja": "nein", "j": "n", "wahr": "falsch", "1": "0"},
    {"oui": "non", "o": "n", "vrai": "faux", "1": "0"},
    {"sí": "no", "si": "no", "s": "n", "1": "0"},
)

_DATES = (
    "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y",
    "%d/%m/%y", "%m/%d/%y", "%d %b %Y", "%d %B %Y", "%d-%b-%Y", "%d-%b-%y", "%b %d, %Y",
    "%B %d, %Y", "%b %d %Y", "%b %Y", "%B %Y", "%b-%y",
)  # fmt: skip
_TIMES = (
    "", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p", ", %H:%M", ", %H:%M:%S",
    "T%H:%M:%S",
)  # fmt: skip
DATE_FORMATS = ("ISO8601", *(date + time for time in _TIMES for date in _DATES))
_LOOKS_LIKE_DATE = re.compile(r"\d{1,4}[-./ ]\S{1,9}[-./ ,]+\d{1,4}|\d{4}-\d\d\b|[^\W\d]{3,9}[- ]")
_ISO = re.compile(
    r"\d{4}-\d\d(-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?( ?Z| ?[+-]\d\d:?\d\d)?)?)?$", re.IGNORECASE
)


def tidied(word: str) -> str:
    """Without blanks at its ends, and with one where several stood."""
    return " ".join(word.split())


def folded(word: str) -> str:
    """Tidied, and without case."""
    return tidied(word).casefold()


class Number(NamedTuple):
    """A number as it was written.

    Attributes
    ----------
    value : float
    sign : str
        The currency, "%" or the unit beside it, "" where there is none.
    is_grouped : bool
        Whether thousands are set apart.
    """

    value: float
    sign: str
    is_grouped: bool


def read_number(word: str, decimal: str) -> Number | None:
    """A tidied word as a number with decimal points or commas, None where it is none."""
    found = _NUMBER[decimal].fullmatch(word.replace("\u2212", "-"))
    if found is None or bool(found["open"]) != bool(found["close"]):
        return None
    signs = [found["sign"], found["inner"], found["behind"], found["open"]]
    if sum(sign is not None for sign in signs) > 1:
        return None
    before, after = found["before"], found["after"]
    if (before and after) or (before and currency(before) is None):
        return None
    digits = found["body"]
    for group in "'’ " + (",." if decimal == "." else ".,")[:1]:
        digits = digits.replace(group, "")
    value = float(digits.replace(",", ".") + (found["exponent"] or ""))
    if any(sign in ("-", "(") for sign in signs):
        value = -value
    sign = before or after or ""
    return Number(value, currency(sign) or sign, found["group"] is not None)


def currency(sign: str) -> str | None:
    """The sign of a currency, one for all ways to write it; None for anything else."""
    upper = sign.upper()
    if upper in _CURRENCY_OF:
        return _CURRENCY_OF[upper]
    is_one = upper in _CURRENCY_WORDS or (len(sign) == 1 and unicodedata.category(sign) == "Sc")
    return upper if is_one else None


def read_hours(word: str) -> float | None:
    """Hours of a time of day or a duration, "14:30" as 14.5."""
    found = _TIME.fullmatch(word)
    if found is None:
        return None
    return int(found[1]) + int(found[2]) / 60 + int(found[3] or 0) / 3600


def answers_of(words: set[str]) -> dict[str, bool] | None:
    """For each of some folded words whether it is a yes, None where they are no yes and no."""
    for family in _ANSWERS:
        sides = dict.fromkeys(family, True) | dict.fromkeys(family.values(), False)
        if words <= sides.keys() and not words <= {"0", "1"}:
            found = {word: sides[word] for word in words}
            return found if len(set(found.values())) == 2 else None
    return None


def answer_spellings(yes: str, no: str) -> dict[str, str]:
    """All folded words that say the same as a yes or a no."""
    pair = {folded(yes), folded(no)}
    for family in _ANSWERS:
        if pair <= family.keys() | set(family.values()):
            return dict.fromkeys(family, yes) | dict.fromkeys(family.values(), no)
    return {folded(yes): yes, folded(no): no}


def answer_pair(word: str) -> int:
    """Which pair of yes and no a folded word is of: words of one pair go together."""
    pairs = [pair for family in _ANSWERS for pair in family.items()]
    return next(place for place, pair in enumerate(pairs) if word in pair)


def is_no_date(word: str) -> bool:
    """Whether a word stands for a date that is not known, "0000-00-00"."""
    return _NO_DATE.fullmatch(word) is not None


def date_forms(words: list[str]) -> list[str]:
    """The forms in which at least one of some words is a date."""
    return [form for form in DATE_FORMATS if any(_is_date(word, form) for word in words)]


def _is_date(word: str, form: str) -> bool:
    if not may_be_date(word, form):
        return False
    if form == "ISO8601":
        return True
    try:
        datetime.strptime(word, form)
    except ValueError:
        return False
    return True


def may_be_date(word: str, form: str) -> bool:
    """Whether it is worth while to read a word as a date of a form."""
    return (_ISO if form == "ISO8601" else _LOOKS_LIKE_DATE).match(word) is not None
