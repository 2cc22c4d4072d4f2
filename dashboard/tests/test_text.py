"""Foreign text loses its power on pages, terminals and issues."""

from __future__ import annotations

from dashboard.templatetags.lifeline import coded
from dashboard.tests.factory import HOSTILE
from runs import text, words


def test_controls_bidi_and_invisible_characters_become_visible() -> None:
    shown = text.visible("a\x1b[31m\u202eb\u200bc\x00\x7f\ud800\ufeff")
    assert shown == "a␛[31m⟨U+202E⟩b⟨U+200B⟩c␀␡⟨U+D800⟩⟨U+FEFF⟩"
    assert text.visible("line\nand\ttab") == "line\nand\ttab"
    shown.encode()


def test_everything_inside_a_document_becomes_visible() -> None:
    given = {"a\x1b": ["\u202e", {"b": ("\x00", 1, None)}]}
    assert text.visible_deep(given) == {"a␛": ["⟨U+202E⟩", {"b": ["␀", 1, None]}]}


def test_markdown_has_no_mention_link_fence_or_markup_left() -> None:
    shown = text.markdown(HOSTILE + " https://evil.example www.evil.example #12 | a")
    assert "@everyone" not in shown and "://" not in shown and "www.evil" not in shown
    assert "\\`\\`\\`" in shown and "\\[x\\]" in shown and "\\<script\\>" in shown
    assert " | " not in shown and "\n" not in shown


def test_a_code_span_cannot_be_closed_from_inside() -> None:
    assert text.code_span("a `b` ``c``") == "``` a `b` ``c`` ```"
    assert text.code_span("x|y\nz") == "`x∣y z`"


def test_a_code_block_has_a_longer_fence_than_any_inside() -> None:
    assert text.code_block("```\nrm -rf\n```").startswith("````\n")


def test_durations_and_sizes_read_as_people_write_them() -> None:
    given = (None, 0.006, 1.0113, 41, 200, 7500)
    assert [words.seconds(value) for value in given] == [
        "–",
        "6 ms",
        "1.01 s",
        "41.0 s",
        "3 min 20 s",
        "2 h 5 min",
    ]
    assert [words.size(value) for value in (712, 22_200)] == ["712 B", "21.7 KiB"]


def test_an_unknown_diagnosis_is_not_green_and_a_new_one_is_bad() -> None:
    assert words.diagnosis("unknown")[1] == words.UNKNOWN
    assert words.diagnosis("zombie") == ("zombie", words.BAD)
    assert words.diagnosis("healthy")[1] == words.OK


def test_a_whole_answer_that_is_an_error_has_not_ended_early() -> None:
    assert words.closed("ended", False, 429) == "error 429"
    assert words.closed("ended", False, 200) == words.closed("ended", False) == "ended early"
    assert words.closed("cut", False, 500) == "cut" and words.closed("ended", True) == "complete"


def test_a_guard_says_where_it_stood_whatever_a_file_claims_of_it() -> None:
    said = [
        words.guard({"guard": guard, "limit": limit, "value": value, "what": what})
        for guard, limit, value, what in (
            ("timeout", 6, 6.01, ""),
            ("guard-output-cap", 4 << 30, 5 << 30, "disk"),
            ("guard-memory-floor", 1024, 900.4, ""),
            ("guard-process-cap", None, None, ""),
            ("guard-request-cap", "many", "more", ""),
        )
    ]
    assert said == [
        "Stopped after 6.00 s, the deadline.",
        "Stopped at 5.0 GiB on disk; 4.0 GiB are allowed.",
        "Stopped: 900 MiB of memory were left; 1,024 MiB have to stay free.",
        "Stopped: it had become too many processes.",
        "Stopped: guard-request-cap.",
    ]


def test_names_in_our_own_sentences_stand_as_code() -> None:
    said = coded("`raw` is <b> the agent's; a ` alone stays.")
    assert said == "<code>raw</code> is &lt;b&gt; the agent&#x27;s; a ` alone stays."
