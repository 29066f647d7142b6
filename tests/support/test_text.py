from jensen.support.text import grid, plural, some


def test_a_grid_aligns_its_columns():
    rows = [["name", "p", "n"], ["a", "0.25", "1"], ["long name", "1", "1000"]]
    assert grid(rows, left=1) == (
        "name          p     n\n"  #
        "a          0.25     1\n"
        "long name     1  1000"
    )


def test_a_rule_is_as_wide_as_the_widest_line():
    assert grid([["a", "b"], ["c", "wide"]], left=2, rule=True) == "a  b\n-------\nc  wide"
    assert grid([["a"]], left=1, rule=True) == "a\n-"


def test_nothing_trails_on_the_right():
    assert grid([["a", "bb"], ["ccc", "d"]], left=2) == "a    bb\nccc  d"


def test_an_empty_grid():
    assert grid([], left=1, rule=True) == ""
    assert grid(iter([]), left=1) == ""


def test_some_of_many():
    assert some([]) == ""
    assert some(range(8)) == "0, 1, 2, 3, 4, 5, 6, 7"
    assert some(range(9)) == "0, 1, 2, 3, 4, 5, 6, 7, ... (9 in all)"
    assert some(iter("abc"), most=1) == "a, ... (3 in all)"
    assert some(range(12345), most=1) == "0, ... (12,345 in all)"


def test_plurals():
    assert [plural(n, "row") for n in (0, 1, 2, 1000)] == [
        "0 rows",
        "1 row",
        "2 rows",
        "1,000 rows",
    ]
