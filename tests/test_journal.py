import json

import pytest

from hedgerow._journal import Journal


def test_journal_remembers_over_a_cut_off_line(tmp_path):
    path = tmp_path / "deep" / "journal.jsonl"
    journal = Journal(path)
    journal.add({"set": "iris", "seed": 0}, accuracy=0.9)
    journal.add({"set": "iris", "seed": 1}, accuracy=0.8)
    with path.open("a") as file:
        file.write('{"key": {"set": "wi')
    again = Journal(path)
    assert again.get(seed=1, set="iris") == {"accuracy": 0.8}
    assert again.get(set="wine", seed=0) is None
    again.add({"set": "wine", "seed": 0}, accuracy=1.0)
    assert len(Journal(path).find(seed=0)) == 2


def test_the_last_result_of_a_unit_counts(tmp_path):
    journal = Journal(tmp_path / "journal.jsonl")
    journal.add({"set": "iris"}, accuracy=0.1)
    journal.add({"set": "iris"}, accuracy=0.9)
    assert Journal(journal.path).find() == [({"set": "iris"}, {"accuracy": 0.9})]


def test_a_line_is_one_write_at_the_end_of_the_file(tmp_path):
    journal = Journal(tmp_path / "journal.jsonl")
    other = Journal(tmp_path / "journal.jsonl")
    journal.append({"first": 1})
    other.append({"second": 2})
    journal.append({"third": "ä\n"})
    text = journal.path.read_text()
    assert text.endswith("\n")
    assert [json.loads(line) for line in text.splitlines()] == [
        {"first": 1}, {"second": 2}, {"third": "ä\n"},
    ]  # fmt: skip


def test_lines_can_be_replaced(tmp_path):
    journal = Journal(tmp_path / "journal.jsonl")
    journal.append({"run": 1})
    journal.append({"run": 2})
    journal.replace(line for line in journal.lines if line["run"] == 2)
    assert Journal(journal.path).lines == journal.lines == [{"run": 2}]


@pytest.mark.parametrize("text", ["", "\n", "[1, 2]\n", "nonsense\n"])
def test_what_is_no_line_is_left_out(tmp_path, text):
    path = tmp_path / "journal.jsonl"
    path.write_text(text)
    assert Journal(path).lines == []
