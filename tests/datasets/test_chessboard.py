"""Chessboards: colours, probabilities, bad input."""

import numpy as np
import pytest

from hedgerow.datasets import make_chessboard
from hedgerow.datasets.chessboard import chessboard


def test_neighbours_on_a_balanced_board_differ():
    board = chessboard(6, 2)
    assert board.shape == (8, 8)
    assert (board[1:] != board[:-1]).all()
    assert (board[:, 1:] != board[:, :-1]).all()


def test_generalized_board_has_the_asked_number_of_black_cells():
    board = chessboard(6, 3, "generalized", n_black=40)
    assert board.shape == (4, 4, 4)
    assert board.sum() == 40


def test_random_board_has_about_its_share_of_black_cells():
    assert abs(chessboard(12, 2, "random", black_share=0.3).mean() - 0.3) < 0.03


def test_labels_follow_the_colour_of_the_cell():
    X, y, probability = make_chessboard(20_000, k=2, p=0.9, random_state=0, return_probability=True)
    black = (X[:, 0] < 0.5) == (X[:, 1] < 0.5)
    assert (probability == np.where(black, 0.9, 1 - 0.9)).all()
    assert abs(y[black].mean() - 0.9) < 0.01
    assert abs(y[~black].mean() - 0.1) < 0.01


def test_two_samples_share_a_board():
    settings = {"k": 8, "p": 1.0, "pattern": "random"}
    first = make_chessboard(5000, **settings, random_state=0)
    second = make_chessboard(5000, **settings, random_state=1)
    cells = [
        dict(zip(map(tuple, (X * 16).astype(int)), y, strict=True)) for X, y in (first, second)
    ]
    assert all(cells[1].get(cell, colour) == colour for cell, colour in cells[0].items())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"k": 5}, r"'k' must be a multiple of 'n_features' \(2\) and at most 24, got 5."),
        ({"p": 0.4}, "'p' must be a number from 0.5 to 1, got 0.4."),
        ({"pattern": "go"}, "'pattern' must be one of 'balanced', 'generalized', 'random', got"),
        ({"pattern": "generalized", "n_black": 65}, "'n_black' must be an int from 0 to 64"),
        ({"n_samples": 0}, "'n_samples' must be a positive int, got 0."),
    ],
)
def test_bad_boards_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        make_chessboard(**given)
