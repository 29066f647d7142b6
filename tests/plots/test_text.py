import string

import pytest

from jensen.plots import cards
from jensen.plots.cards import elide, text_width, wrap

LATIN = "".join(chr(k) for k in range(0xA1, 0x180) if chr(k).isalpha())
GREEK_AND_CYRILLIC = "".join(chr(k) for k in range(0x391, 0x460) if chr(k).isalpha())
NAMES = [
    "A",
    "i" * 50,
    "W" * 50,
    "LeftVentricularEndDiastolicVolumeIndexMeasurementOfThePatientAtAdmission",
    "a very long name with many words that does not end before it has filled all of its lines",
    "snake_case_" * 12,
    "Größe",
    "温度センサーの値" * 5,
    "😀" * 30,
    "tab\tand\nnewline",
    " ",
]


@pytest.mark.parametrize("characters", [string.printable[:95], LATIN, GREEK_AND_CYRILLIC])
def test_no_character_is_wider_than_estimated_in_a_wide_font(characters):
    matplotlib = pytest.importorskip("matplotlib")
    from matplotlib.ft2font import FT2Font

    font = FT2Font(f"{matplotlib.get_data_path()}/fonts/ttf/DejaVuSans.ttf")
    font.set_size(100.0, 72.0)
    for character in characters:
        advance = font.load_char(ord(character)).linearHoriAdvance / 65536
        assert text_width(character, 100.0) >= advance - 0.5, character


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("beliefs", [[], [("yes", 0.999), ("a label that is far too long", 0.001)]])
def test_text_never_overflows_its_box(name, beliefs):
    card = cards.make_card(name, beliefs)
    width, height = card.size
    room = width - 2 * cards.SIDE
    assert all(text_width(line, cards.SIZE) <= room + 1e-9 for line in card.lines)
    assert width <= 2 * cards.SIDE + max(cards.MOST_NAME, cards.MOST_LABEL + 150.0)
    for row in card.rows:
        needed = text_width(row.label, cards.SMALL) + text_width(row.text, cards.SMALL)
        assert needed + cards.BAR + 2 * cards.BETWEEN <= room + 1e-9
    if card.rows:
        assert card.rows_top + cards.ROW * len(card.rows) <= height
    assert cards.EDGE + cards.LINE * len(card.lines) <= height


def test_long_names_are_broken_between_words_and_then_cut():
    assert wrap("one two three", 60.0, 10.0, most=3) == ["one two", "three"]
    assert wrap("snake_case", 40.0, 10.0, most=3) == ["snake_", "case"]
    assert wrap("x" * 20, 60.0, 10.0, most=9) == ["x" * 10, "x" * 10]
    assert wrap("two\nlines", 100.0, 10.0, most=3) == ["two", "lines"]
    assert wrap("one two three four", 40.0, 10.0, most=2) == ["one", "two t…"]
    assert elide("short", 100.0, 10.0) == "short"
    assert elide("nothing fits", 1.0, 10.0) == "…"


def test_of_many_states_the_most_probable_are_shown_and_the_rest_is_summed():
    beliefs = [(f"s{k}", (k + 1) / 120) for k in range(15)]
    shown = cards.shorten(beliefs)
    assert [label for label, _ in shown] == [*(f"s{k}" for k in range(6, 15)), "6 others"]
    assert sum(p for _, p in shown) == pytest.approx(1.0)
    assert cards.shorten(beliefs[:10]) == beliefs[:10]


def test_percentages_say_0_and_100_only_where_that_is_exact():
    shown = [cards.percent(p) for p in (0.0, 1e-9, 0.0005, 0.25, 0.1234, 0.9994, 0.99951, 1.0)]
    assert shown == ["0%", "<0.1%", "0.1%", "25%", "12.3%", "99.9%", ">99.9%", "100%"]
