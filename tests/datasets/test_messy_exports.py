"""Tables as people export them: what each is read as, what is told, and what later files get.

An `Export` is a file that is generated, the values that its columns must have after reading, and
what the user must be told. All of them are then read again through a model file.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pytest

import hedgerow
from hedgerow.datasets import load_data, read_table

N = 60
ROW = np.arange(N)
NUMBER = (ROW * 37 % 101 + 1) / 4  # from 0.25 to 25.25
LARGE = ROW * 7919 % 90_000 + 1000  # from 1,000 to 90,999
CLASS = np.where(ROW % 3 == 0, "stay", "leave")


def spelt(values, form):
    """Each value in a form of writing."""
    return [form(value) for value in values]


def english(value):
    return f"{value:,.2f}"


def german(value):
    return english(value).translate(str.maketrans(",.", ".,"))


def days(form, start="2023-01-05"):
    return pd.date_range(start, periods=N, freq="9D").strftime(form).tolist()


YEARS = [
    2023 + (time.day_of_year - 1) / 365
    for time in pd.date_range("2023-01-05", periods=39, freq="9D")
]


def every(n, values, word):
    """The values with a word in every n-th place."""
    return [word if row % n == 2 else value for row, value in enumerate(values)]


def gaps(n, values):
    return np.where(ROW % n == 2, np.nan, np.asarray(values, float))


@dataclass
class Export:
    """A file and what it must be read as.

    columns : the cells of each column; expected : values, or categories as a set, or None for a
    column that is left out; told : parts of notes; silent : whether nothing at all is told.
    """

    columns: dict[str, list]
    expected: dict[str, Any]
    told: list[str] = field(default_factory=list)
    silent: bool = False
    sep: str = ","
    encoding: str = "utf-8"
    name: str = "export.csv"
    before: str = ""
    after: str = ""
    options: dict[str, Any] = field(default_factory=dict)

    def write(self, folder):
        path = folder / self.name
        frame = pd.DataFrame(self.columns | {"status": CLASS})
        if self.name.endswith(".xlsx"):
            pytest.importorskip("openpyxl")
            frame.to_excel(path, index=False)
        else:
            text = frame.to_csv(index=False, sep=self.sep, lineterminator="\n")
            text = self.before + text + self.after
            path.write_bytes(text.encode(self.encoding))
        return path


COUNTRIES = np.array(["DE", "NA", "ZA", "US"])[ROW % 4].tolist()
PLANS = np.array(["Pro", "pro ", "PRO", "Basic", " Basic", "Pro"])[ROW % 6].tolist()
MIXED_YES = np.array(["yes", "no", "Y", "N", "Yes", "no"])[ROW % 6].tolist()

EXPORTS = {
    "plain": Export(
        {"a": NUMBER.tolist(), "b": ROW % 7, "c": ["x", "y", "z"] * 20},
        {"a": NUMBER, "b": ROW % 7, "c": {"x", "y", "z"}},
        silent=True,
    ),
    "question marks": Export(
        {"hours": every(9, NUMBER, "?")},
        {"hours": gaps(9, NUMBER)},
        ["'hours' (number): '?' read as missing in 7 cells"],
    ),
    "several words for missing": Export(
        {"hours": every(7, every(9, NUMBER, "n/a"), "NULL"), "rate": every(8, NUMBER, "NA")},
        {"rate": gaps(8, NUMBER)},
        ["'n/a' read as missing in 6 cells", "'NULL' read as missing in 9", "'NA' read as missing"],
    ),
    "an odd word among numbers": Export(
        {"hours": ["see note", *NUMBER[1:].tolist()]},
        {"hours": np.append(np.nan, NUMBER[1:])},
        ["the words 'see note' in a column of numbers are read as missing"],
    ),
    "numbers and words mixed": Export(
        {"size": [36, 38, "M", "L", 40] * 12},
        {"size": {"36", "38", "40", "M", "L"}},
        ["60 % of its cells are numbers, the others are 'M', 'L': left as words"],
    ),
    "money": Export(
        {"revenue": spelt(LARGE, lambda v: f"€{english(v)}")},
        {"revenue": LARGE},
        ["'€' dropped in 60 cells", "thousands separators dropped in 60 cells"],
    ),
    "money after the number": Export(
        {"revenue": spelt(LARGE, lambda v: f"{v} EUR"), "cost": spelt(LARGE, lambda v: f"{v} kr")},
        {"revenue": LARGE, "cost": LARGE},
        ["'€' dropped in 60 cells", "'KR' dropped in 60 cells"],
    ),
    "negative money in brackets": Export(
        {"balance": spelt(LARGE - 40_000, lambda v: f"(${-v:,})" if v < 0 else f"${v:,}")},
        {"balance": LARGE - 40_000},
        ["'$' dropped in 60 cells"],
    ),
    "several currencies": Export(
        {"price": spelt(ROW, lambda v: f"{'€$'[v % 2]}{v % 9}")},
        {"price": {f"{'€$'[v % 2]}{v % 9}" for v in ROW}},
        ["several units or currencies ($, €): left as words"],
    ),
    "per cent": Export(
        {
            "discount": spelt(NUMBER, lambda v: f"{v:g}%"),
            "share": spelt(NUMBER, lambda v: f"{v:g} %"),
        },
        {"discount": NUMBER, "share": NUMBER},
        ["'%' dropped in 60 cells"],
    ),
    "some with a per cent sign": Export(
        {"rate": spelt(ROW, lambda v: f"{v % 9 + 1}{'%' * (v % 2)}")},
        {"rate": {f"{v % 9 + 1}{'%' * (v % 2)}" for v in ROW}},
        ["some of its numbers have a '%' and some have not: left as words"],
    ),
    "thousands": Export(
        {
            "orders": spelt(LARGE, lambda v: f"{v:,}"),
            "visits": spelt(LARGE, lambda v: f"{v:,}".replace(",", "'")),
        },
        {"orders": LARGE, "visits": LARGE},
        ["thousands separators dropped in 60 cells"],
    ),
    "a German export": Export(
        {
            "Größe": spelt(NUMBER, lambda v: f"{v:.2f}".replace(".", ",")),
            "Umsatz": spelt(LARGE, german),
            "Stück": spelt(LARGE, lambda v: f"{v:,}".replace(",", ".")),
        },
        {"Größe": NUMBER, "Umsatz": LARGE, "Stück": LARGE},
        ["columns are separated by semicolons", "decimal commas read", "was read as cp1252"],
        sep=";",
        encoding="cp1252",
    ),
    "decimal commas in quotes": Export(
        {"a": spelt(NUMBER, lambda v: f"{v:.2f}".replace(".", ","))},
        {"a": NUMBER},
        ["decimal commas read in 60 cells"],
    ),
    "thousands or decimals, nobody can tell": Export(
        {"a": spelt(LARGE[::-1] % 9000 + 1000, lambda v: f"{v:,}")},
        {"a": None},
        ["may be thousands or have decimal commas: say which with --decimal"],
        sep=";",
    ),
    "thousands or decimals, said": Export(
        {"a": spelt(LARGE % 9000 + 1000, lambda v: f"{v:,}")},
        {"a": (LARGE % 9000 + 1000) / 1000},
        ["decimal commas read in 60 cells"],
        sep=";",
        options={"decimal": ","},
    ),
    "points and commas": Export(
        {
            "a": [
                f"{v:.2f}" if row % 3 else f"{v:.2f}".replace(".", ",")
                for row, v in enumerate(NUMBER % 5)
            ]
        },
        {},
        ["some of its numbers have decimal points and some decimal commas: left as words"],
    ),
    "tabs": Export(
        {"a": NUMBER.tolist(), "b": ["x, y", "z"] * 30}, {"a": NUMBER, "b": {"x, y", "z"}}, sep="\t"
    ),
    "bars and quotes": Export(
        {"a, b": NUMBER.tolist(), "c": ['says "hi"', "a|b", "line\nbreak"] * 20},
        {"a, b": NUMBER, "c": {'says "hi"', "a|b", "line break"}},
        ["columns are separated by bars"],
        sep="|",
    ),
    "Excel's hint and byte order mark": Export(
        {"Ärger": NUMBER.tolist()},
        {"Ärger": NUMBER},
        silent=True,
        sep=";",
        encoding="utf-8-sig",
        before="sep=;\n",
    ),
    "UTF-16": Export({"größe": NUMBER.tolist()}, {"größe": NUMBER}, sep="\t", encoding="utf-16"),
    "German dates": Export(
        {"signup": days("%d.%m.%Y")},
        {"signup": [*YEARS, None]},
        ["dates made years, month, weekday (%d.%m.%Y) in 60 cells"],
    ),
    "American dates with times": Export(
        {"signup": days("%m/%d/%Y %I:%M %p")},
        {"signup": [*YEARS, None]},
        ["(%m/%d/%Y %I:%M %p)"],
    ),
    "dates with names of months": Export(
        {"signup": every(9, days("%d %b %Y"), "-"), "paid": days("%B %d, %Y")},
        {"paid": [*YEARS, None]},
        ["(%d %b %Y) in 53 cells", "'-' read as missing in 7 cells", "(%B %d, %Y)"],
    ),
    "dates that are none": Export(
        {"signup": every(9, days("%Y-%m-%d"), "0000-00-00")},
        {},
        ["'0000-00-00' read as missing in 7 cells"],
    ),
    "dates with the day or the month first": Export(
        {"signup": spelt(ROW, lambda v: f"0{v % 7 + 1}/0{v % 5 + 1}/2023")},
        {},
        ["may have the day or the month first", "left as words"],
    ),
    "numbers that may be dates": Export(
        {"day": pd.date_range("2023-01-05", periods=N).strftime("%Y%m%d").tolist()},
        {"day": [20230105.0, None]},
        ["may be dates written as 20241231: read as numbers"],
    ),
    "times of day": Export(
        {"at": spelt(ROW, lambda v: f"{v % 24}:{v:02}")},
        {"at": ROW % 24 + ROW / 60},
        ["times made hours in 60 cells"],
    ),
    "yes and no": Export(
        {"newsletter": MIXED_YES, "paid": ["TRUE", "false"] * 30},
        {"newsletter": {"yes", "no"}, "paid": {"True", "False"}},
        ["read as 'yes' or 'no' in 30 cells"],
    ),
    "blanks and case": Export(
        {"plan": PLANS},
        {"plan": {"Pro", "Basic"}},
        ["stray blanks removed in 20 cells", "'pro', 'PRO' read as 'Pro' in 20 cells"],
    ),
    "letters in two cases": Export(
        {"unit": ["m", "M", "k"] * 20},
        {"unit": {"m", "M", "k"}},
        ["'m' and 'M' may be the same or not: left as words"],
    ),
    "codes with zeros": Export(
        {"zip": spelt(ROW, lambda v: f"{v % 10 * 1111:05}")},
        {"zip": {f"{v * 1111:05}" for v in range(10)}},
        ["codes with leading zeros kept as words in 60 cells"],
    ),
    "Namibia": Export(
        {"country": COUNTRIES},
        {"country": {"DE", "NA", "ZA", "US"}},
        ["'NA' is read as a word like", "in 15 cells"],
    ),
    "Namibia, said to be missing": Export(
        {"country": COUNTRIES},
        {"country": {"DE", "ZA", "US"}},
        ["'NA' read as missing in 15 cells"],
        options={"na": ["NA"]},
    ),
    "NA among words": Export(
        {
            "alley": every(5, ["gravel", "paved"] * 30, "NA"),
            "fence": every(5, ["good", "None"] * 30, "NULL"),
        },
        {"alley": {"gravel", "paved"}, "fence": {"good", "None"}},
        ["'NA' read as missing in 12 cells", "'None' in 24 cells is read as a word"],
    ),
    "numbers that mean missing": Export(
        {"age": every(6, ROW % 50 + 18, -999)},
        {"age": every(6, ROW % 50 + 18, -999)},
        ["-999 in 10 cells is far from all others: if it means missing, say --na -999"],
    ),
    "numbers that mean missing, said": Export(
        {"age": every(6, ROW % 50 + 18, -999)},
        {"age": gaps(6, ROW % 50 + 18)},
        ["the given numbers read as missing in 10 cells"],
        options={"na": ["-999"]},
    ),
    "identifiers": Export(
        {"customer": spelt(ROW, lambda v: f"C-{v:05x}"), "a": NUMBER.tolist()},
        {"customer": None, "a": NUMBER},
        ["left out: it looks like an identifier: 60 different values in 60 cells"],
    ),
    "free text": Export(
        {"remark": spelt(ROW, lambda v: f"the customer called {v} times"), "a": NUMBER.tolist()},
        {"remark": None},
        ["left out: it looks like free text: 60 different values"],
    ),
    "many words": Export(
        {"city": spelt(ROW, lambda v: f"city {v}" if v % 5 == 0 or v > 45 else "abc"[v % 3])},
        {"city": {"a", "b", "c", "(other)"}},
        ["that are rare read as '(other)'"],
    ),
    "names with blanks": Export(
        {" size ": NUMBER.tolist(), "plan": PLANS}, {"size": NUMBER, "plan": {"Pro", "Basic"}}
    ),
    "spreadsheet errors": Export(
        {"ratio": every(9, NUMBER, "#DIV/0!"), "kind": every(9, ["a", "b"] * 30, "#N/A")},
        {"ratio": gaps(9, NUMBER), "kind": {"a", "b"}},
        ["'#DIV/0!' read as missing in 7 cells", "'#N/A' read as missing in 7 cells"],
    ),
    "a workbook": Export(
        {"revenue": spelt(LARGE, lambda v: f"${english(v)}"), "paid": every(9, NUMBER, "n/a")},
        {"revenue": LARGE, "paid": gaps(9, NUMBER)},
        ["'$' dropped in 60 cells", "'n/a' read as missing in 7 cells"],
        name="export.xlsx",
    ),
    "titles above": Export(
        {"a": NUMBER.tolist(), "b": LARGE.tolist()},
        {"a": NUMBER, "b": LARGE},
        ["the first 3 lines above the names of the columns were passed over"],
        before="Sales report\nmade on 2024-01-05\n\n",
    ),
    "titles of a spreadsheet": Export(
        {"a": NUMBER.tolist(), "b": LARGE.tolist()},
        {"a": NUMBER, "b": LARGE},
        ["the first 2 lines above", "columns are separated by semicolons"],
        sep=";",
        before="Report;;\n;;\n",
    ),
    "a total below": Export(
        {"region": ["north", "south"] * 30, "a": NUMBER.tolist(), "b": LARGE.tolist()},
        {"region": {"north", "south"}, "a": NUMBER, "b": LARGE},
        ["the last row is a total, left out"],
        after=f"Total,{NUMBER.sum()},{LARGE.sum()},\n",
    ),
    "sum and mean below, in German": Export(
        {"Ort": ["Ulm", "Bonn"] * 30, "Preis": spelt(LARGE, german), "Menge": (ROW % 7).tolist()},
        {"Ort": {"Ulm", "Bonn"}, "Preis": LARGE},
        ["the last 2 rows are totals, left out"],
        sep=";",
        after=f"Mittelwert;{german(LARGE.mean())};;\nSumme;;{(ROW % 7).sum()};\n",
    ),
    "a word that may be a total": Export(
        {"kind": ["total", "part"] * 30, "a": NUMBER.tolist()},
        {"kind": {"total", "part"}, "a": NUMBER},
        silent=True,
    ),
    "a line of units": Export(
        {"size": ["cm", *NUMBER.tolist()[1:]], "price": ["EUR", *LARGE.tolist()[1:]]},
        {"size": NUMBER[1:], "price": LARGE[1:]},
        ["the first row is a second header ('cm', 'EUR'"],
    ),
    "units": Export(
        {"weight": spelt(NUMBER, lambda v: f"{v:g} kg"), "code": spelt(ROW, lambda v: f"A{v % 9}")},
        {"weight": NUMBER, "code": {f"A{v}" for v in range(9)}},
        ["'kg' dropped in 60 cells"],
    ),
}


def check(frame, expected):
    for name, values in expected.items():
        if values is None:
            assert name not in frame
        elif isinstance(values, set):
            assert set(frame[name].dropna()) == values
            assert frame[name].dtype == "category"
        else:
            short = [value for value in values if value is not None]
            np.testing.assert_allclose(frame[name].iloc[: len(short)].astype(float), short)


@pytest.fixture(params=EXPORTS, ids=lambda name: name.replace(" ", "-"))
def export(request):
    return EXPORTS[request.param]


def test_exports_are_read_as_they_are_meant(export, tmp_path):
    path = export.write(tmp_path)
    table = load_data(str(path), "status", **export.options)
    check(table.X, export.expected)
    assert table.y.tolist() == CLASS.tolist()[-len(table.y) :]
    assert len(table.y) >= N - 1
    notes = "\n".join(table.notes)
    for part in export.told:
        assert part in notes
    if export.silent:
        assert not notes
    again = read_table(path, target="status", **export.options)
    assert again.reading == table.reading
    pd.testing.assert_frame_equal(again.frame.drop(columns="status"), table.X)


def test_later_files_are_read_in_the_same_way_through_a_model_file(export, tmp_path):
    table = load_data(str(export.write(tmp_path)), "status", **export.options)
    X = table.X.assign(
        other=ROW[: len(table.X)] % 4
    )  # an export may have no column that can be used
    model = hedgerow.DecisionTreeClassifier(random_state=0).fit(X, table.y)
    model.reading_ = table.reading
    hedgerow.save(model, tmp_path / "m.hedgerow")
    loaded = hedgerow.load(tmp_path / "m.hedgerow")
    assert loaded.reading_ == table.reading
    pd.testing.assert_frame_equal(
        loaded.reading_.apply(table.raw).drop(columns="status"), table.X, check_dtype=False
    )


def test_there_are_enough_exports():
    assert len(EXPORTS) >= 25
