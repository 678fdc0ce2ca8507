import numpy as np
import pandas as pd
import pytest

from hedgerow.datasets import available, load_data
from hedgerow.datasets.files import chunk_writer, read_chunks, read_columns, read_frame
from hedgerow.datasets.loaders import BUNDLED
from hedgerow.datasets.text_files import TextOptions


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=60).round(3),
            "count": rng.integers(0, 9, 60),
            "colour": rng.choice(["red", "light green", "blue"], 60),
            "open": rng.random(60) < 0.5,
            "seen": pd.date_range("2020-01-01", periods=60).astype(str),
        }
    )
    frame["warm"] = np.where(frame["colour"] == "red", "yes", "no")
    frame.loc[::9, ["size", "colour"]] = None
    return frame


def write(frame, path):
    """The frame in a file of the kind that the ending says."""
    if path.suffix == ".arff":
        kinds = {"size": "numeric", "count": "numeric", "open": "{True,False}"}
        lines = ["% a comment", "@relation things"]
        lines += [f"@ATTRIBUTE '{name}' {kinds.get(name, 'string')}" for name in frame]
        lines += ["@data"]
        for row in frame.astype(object).itertuples(index=False):
            cells = ["?" if pd.isna(cell) else str(cell) for cell in row]
            lines.append(",".join(f"'{cell}'" if " " in cell else cell for cell in cells))
        path.write_text("\n".join(lines))
    elif path.suffix == ".xlsx":
        pytest.importorskip("openpyxl")
        frame.to_excel(path, index=False)
    elif path.suffix in (".parquet", ".feather"):
        getattr(frame, f"to_{path.suffix[1:]}")(path)
    else:
        sep = {"d.tsv": "\t", "d.csv": ";"}.get(path.name, ",")
        frame.to_csv(path, index=False, sep=sep)


NAMES = ["d.csv", "d.csv.gz", "d.tsv", "d.parquet", "d.feather", "d.xlsx", "d.arff"]


@pytest.mark.parametrize("name", NAMES)
def test_every_kind_of_file_gives_the_same_table(frame, tmp_path, name):
    path = tmp_path / name
    write(frame, path)
    table = load_data(str(path), "warm")
    assert table.y.tolist() == frame["warm"].tolist()
    parts = ["seen month", "seen weekday"]
    assert list(table.X.columns) == ["size", "count", "colour", "open", "seen", *parts]
    pd.testing.assert_series_equal(table.X["size"], frame["size"])
    assert table.X["count"].tolist() == frame["count"].tolist()
    assert table.X["colour"].cat.categories.tolist() == ["blue", "light green", "red"]
    assert table.X["colour"].isna().tolist() == frame["colour"].isna().tolist()
    assert table.X["open"].tolist() == frame["open"].astype(str).tolist()
    days = (table.X["seen"] - 2020) * 366
    np.testing.assert_allclose(days, np.arange(60), atol=1e-6)
    assert table.X["seen weekday"].head(3).tolist() == [3.0, 4.0, 5.0]  # from a Wednesday on


@pytest.mark.parametrize("name", NAMES)
def test_chunks_are_the_file(frame, tmp_path, name, monkeypatch):
    monkeypatch.setattr("hedgerow.datasets.files.CELLS_AT_ONCE", 0)  # a thousand rows at once
    many = pd.concat([frame] * 40, ignore_index=True)
    path = tmp_path / name
    write(many, path)
    assert read_columns(path) == list(many.columns)
    chunks = list(read_chunks(path, ["count", "colour"], ["colour"]))
    assert max(map(len, chunks)) <= (2400 if name == "d.xlsx" else 1000)
    together = pd.concat(chunks, ignore_index=True)
    assert together["count"].tolist() == many["count"].tolist()
    assert together["colour"].fillna("").tolist() == many["colour"].fillna("").tolist()


@pytest.mark.parametrize("name", ["d.csv", "d.tsv", "d.parquet", "d.feather"])
def test_chunks_can_be_written(frame, tmp_path, name):
    path = tmp_path / name
    with path.open("wb") as file, chunk_writer(file, path) as append:
        append(frame[:25])
        append(frame[25:])
    back = read_frame(path)
    assert back["warm"].tolist() == frame["warm"].tolist()
    np.testing.assert_array_equal(back["size"], frame["size"])


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_sets_load_offline(name):
    table = load_data(name)
    assert len(table.X) == len(table.y) > 100
    assert available()[name] == "bundled"


def test_sets_of_the_users_folder_are_found_by_name(frame, tmp_path, monkeypatch):
    frame.rename(columns={"warm": "target"}).assign(split="train").to_parquet(
        tmp_path / "things.parquet"
    )
    monkeypatch.setenv("HEDGEROW_DATA", str(tmp_path))
    table = load_data("things")
    assert (table.target, table.name) == ("target", "things")
    assert "split" not in table.X
    assert available()["things"] == "HEDGEROW_DATA"


def test_rows_without_a_target_are_left_out_with_a_note(frame, tmp_path):
    frame.to_csv(tmp_path / "d.csv", index=False)
    table = load_data(str(tmp_path / "d.csv"), "colour")
    assert len(table.y) == len(table.X) == frame["colour"].notna().sum()
    assert table.notes[0] == "7 rows without a 'colour' were left out"


@pytest.mark.parametrize(
    ("name", "target", "message"),
    [
        ("d.csv", None, "'target' must name a column of"),
        ("d.csv", "cold", "has no column 'cold', only size, count"),
        ("d.csv", "nothing", "is empty"),
        ("nowhere.csv", None, "there is no file 'nowhere.csv'"),
        ("d.doc", None, "'d.doc' must end in .arff, .arrow, .csv"),
        ("iris", "petal", "'iris' has its own target, 'species'"),
    ],
)
def test_what_cannot_be_loaded_is_named(frame, tmp_path, monkeypatch, name, target, message):
    monkeypatch.chdir(tmp_path)
    frame.assign(nothing=None).to_csv("d.csv", index=False)
    (tmp_path / "d.doc").touch()
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        load_data(name, target)


def test_openml_is_asked_for_other_names(monkeypatch):
    asked = {}

    def fetch(**arguments):
        asked.update(arguments)
        raise OSError("no network")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
    monkeypatch.delenv("HEDGEROW_DATA", raising=False)
    with pytest.raises(ValueError, match="'adult@2' is neither a file nor one of .*: no network"):
        load_data("adult@2")
    assert (asked["name"], asked["version"]) == ("adult", 2)


@pytest.mark.parametrize("name", ["adult@x", "adult@²", "adult@", "²"])
def test_only_numbers_are_versions(name, monkeypatch):
    def fetch(**arguments):
        raise OSError(f"no network for {arguments.get('name')}")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
    message = "no network for ²" if name == "²" else "must name a version on OpenML by its number"
    with pytest.raises(ValueError, match=message):
        load_data(name)


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "csv.bz2", "csv.xz", "csv.zip"])
def test_compressed_files_are_read_as_plain_ones_are(frame, tmp_path, ending):
    path = tmp_path / f"table.{ending}"
    frame.to_csv(path, index=False, sep=";")
    assert read_columns(path) == list(frame.columns)
    assert load_data(str(path), "warm").X.shape == (60, 7)


def test_decimal_commas_are_numbers_where_another_sign_separates(frame, tmp_path):
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False, sep=";", decimal=",")
    table = load_data(str(path), "warm")
    np.testing.assert_array_equal(table.X["size"], frame["size"])
    (chunk,) = read_chunks(path, ["size"])
    np.testing.assert_array_equal(table.reading.apply(chunk)["size"], frame["size"])


def test_decimal_commas_in_quotes_are_read_and_named(frame, tmp_path):
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False, decimal=",")
    table = load_data(str(path), "warm")
    np.testing.assert_array_equal(table.X["size"], frame["size"])
    assert any(note.startswith("'size' (number): decimal commas read in") for note in table.notes)


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_a_target_that_occurs_twice_is_refused(tmp_path, ending):
    path = tmp_path / f"table.{ending}"
    frame = pd.DataFrame([[1, "a", 2], [3, "b", 4]] * 5, columns=["y", "x", "y"])
    if ending == "xlsx":
        pytest.importorskip("openpyxl")
        frame.to_excel(path, index=False)
    else:
        frame.to_csv(path, index=False)
    with pytest.raises(ValueError, match="has 2 columns called 'y': rename all but the one"):
        load_data(str(path), "y")
    assert list(load_data(str(path), "x").X.columns) == ["y", "y.1"]


@pytest.mark.parametrize("name", ["d.csv.gz", "d.csv.xz", "d.csv.bz2"])
def test_a_file_that_was_cut_off_is_named(frame, tmp_path, name):
    path = tmp_path / name
    pd.concat([frame] * 50).to_csv(path, index=False)
    path.write_bytes(path.read_bytes()[:-200])
    for read in (read_frame, lambda path: list(read_chunks(path, ["size"]))):
        with pytest.raises(ValueError, match=f"{name}' is damaged or was cut off"):
            read(path)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-8-sig", "utf-8"])
def test_other_encodings_are_read(frame, tmp_path, encoding):
    path = tmp_path / "d.csv"
    frame.rename(columns={"size": "größe"}).to_csv(path, index=False, encoding=encoding)
    assert read_columns(path)[0] == "größe"
    np.testing.assert_array_equal(read_frame(path)["größe"], frame["size"])
    (chunk,) = read_chunks(path, ["größe"])
    np.testing.assert_array_equal(chunk["größe"], frame["size"])


@pytest.mark.parametrize(
    ("encoding", "message"),
    [("ascii", "cannot be read as ascii: name its encoding"), ("utf-9", "unknown encoding: utf-9")],
)
def test_an_encoding_that_is_wrong_is_named_with_a_remedy(tmp_path, encoding, message):
    path = tmp_path / "d.csv"
    path.write_text("größe\n1\n", encoding="cp1252")
    for read in (read_frame, read_columns):
        with pytest.raises(ValueError, match=message):
            read(path, TextOptions(encoding=encoding))


def test_what_is_no_text_is_refused(tmp_path):
    path = tmp_path / "d.csv"
    path.write_bytes(b"PK\0\0\1\2\3" * 50)
    with pytest.raises(ValueError, match="d.csv' is not text: it has zero bytes"):
        read_frame(path)


def test_a_row_with_too_many_fields_is_refused_by_every_reader(frame, tmp_path):
    path = tmp_path / "d.csv"
    frame.to_csv(path, index=False)
    path.write_text(path.read_text() + "1,2,red,True,2020-01-01,yes,more\n")
    for read in (read_frame, lambda path: list(read_chunks(path, ["size"]))):
        with pytest.raises(ValueError, match="Expected 6 fields in line 62, saw 7"):
            read(path)
