"""Ask a person, question by question, which fields say that data are missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from typing import Any

from aatoolkit.availability.detect import to_json_text
from aatoolkit.availability.detect.words import NO_MEANING
from aatoolkit.errors import ArgumentError
from aatoolkit.profile.checking import ALLOWED_MEANINGS
from aatoolkit.profile.possible_fields import PossibleStatusField
from aatoolkit.profile.section_draft import SectionDraft, propose_rule

_ACCEPTED_ANSWERS = ("y", "yes", "n", "no", "s", "skip", "q", "quit")
_ANSWER_PROMPT = "[y]es, [n]o, next field, [s]kip the section, [q]uit, or WORD=MEANING: "


@dataclass
class FieldQuestion:
    """A question to a person: do the values of this field say that data are missing?

    Answer it by `confirm` (yes) or `reject` (no). Correct ``words`` before, if necessary.

    Attributes
    ----------
    section : SectionDraft
        The guessed tables of the section. The answer is stored there.
    field : PossibleStatusField
        The field: its path ``at``, its ``value``, and the reason for the question, ``why``.
    rule : dict
        The arguments of the `aatoolkit.sections.Rule` that would read the field.
    words : dict of str to str
        Maps each text in the field to its probable meaning, such as ``pending``. You can change the
        meanings.
    """

    section: SectionDraft
    field: PossibleStatusField
    rule: dict[str, Any]

    @property
    def words(self) -> dict[str, str]:
        """A dict from each text in the field to its probable meaning, which you can change."""
        words: dict[str, str] = self.rule["words"]
        return words

    def confirm(self) -> None:
        """Answer yes: from now on, this field and similar fields say which data are missing.

        The meanings in ``words`` are used for all of these fields.

        Raises
        ------
        ArgumentError
            If a meaning in ``words`` is neither a status nor a cause.
        """
        self.section.set_rule(**self.rule)
        for possible_field in self.field.similar_fields:
            rule_arguments = propose_rule(possible_field)
            meaning_by_word = {
                word: self.words.get(word, meaning)
                for word, meaning in rule_arguments["words"].items()
            }
            with suppress(ArgumentError):
                self.section.set_rule(**{**rule_arguments, "words": meaning_by_word})

    def reject(self) -> None:
        """Answer no: from now on, this field and similar fields are ignored."""
        for rule_arguments in (self.rule, *map(propose_rule, self.field.similar_fields)):
            with suppress(ArgumentError):
                self.section.set_rule(**{**rule_arguments, "words": {"*": NO_MEANING}})

    def __str__(self) -> str:
        paths = " and ".join(field.at for field in (self.field, *self.field.similar_fields))
        total_text = f", of {self.field.total_field}," if self.field.total_field else ""
        lines = [f"{self.section.name}: does {paths}{total_text} state what was measured?"]
        lines += [f"  there: {to_json_text(self.field.value)[:80]}", f"  why:   {self.field.why}"]
        lines += [f"  {word!r} means {meaning}" for word, meaning in self.words.items()]
        return "\n".join(lines)


class Confirmation:
    """The open questions to a person: which fields say that data are missing?

    `Draft.confirm` returns it. Answer the questions in a notebook with `widget`, in a terminal with
    `ask`, or iterate over them: each is a `FieldQuestion`. Answered questions are not asked again.

    Parameters
    ----------
    draft : mapping of str to SectionDraft
        The guessed tables of each section.
    """

    def __init__(self, draft: Mapping[str, SectionDraft]) -> None:
        self._draft = draft

    def __iter__(self) -> Iterator[FieldQuestion]:
        sections = [
            section
            for section in self._draft.values()
            if section.possible_fields
            and all({*rule.words.values()} == {NO_MEANING} for rule in section.analysis.rules)
        ]
        for section in sorted(sections, key=lambda section: -section.possible_fields[0].score):
            for possible_field, rule_arguments in zip(
                section.possible_fields, section.proposals(), strict=True
            ):
                if rule_arguments["at"] not in {
                    existing_rule.at for existing_rule in section.analysis.rules
                }:
                    yield FieldQuestion(section, possible_field, rule_arguments)

    def ask(
        self,
        read_line: Callable[[str], str] = input,
        show: Callable[[str], object] = print,
        keep: Callable[[], object] | None = None,
    ) -> int:
        """Ask the questions in a terminal, one by one.

        Parameters
        ----------
        read_line : callable
            A function that shows a text and returns the line that was typed, such as ``input``.
        show : callable
            A function that shows a text, such as ``print``.
        keep : callable, optional
            A function without arguments that saves the draft. It is called after each answer.

        Returns
        -------
        int
            The number of questions that were answered with yes.
        """
        confirmed_count = 0
        skipped_section = ""
        for question in self:
            if question.section.name == skipped_section:
                continue
            show(str(question))
            typed_line = ""
            while typed_line.lower() not in _ACCEPTED_ANSWERS:
                word, _, meaning = typed_line.partition("=")
                if word in question.words and meaning in ALLOWED_MEANINGS:
                    question.words[word] = meaning
                elif typed_line:
                    words_text = ", ".join(question.words)
                    show(
                        f"type WORD=MEANING for one of {words_text}, as "
                        f"{', '.join(ALLOWED_MEANINGS)}"
                    )
                try:
                    typed_line = read_line(_ANSWER_PROMPT).strip()
                except EOFError:
                    show("The input ended: this question and those after it stay open.")
                    return confirmed_count
            match typed_line[0].lower():
                case "q":
                    return confirmed_count
                case "s":
                    skipped_section = question.section.name
                case "n":
                    question.reject()
                case "y":
                    try:
                        question.confirm()
                    except ArgumentError as error:
                        show(str(error))
                        continue
                    confirmed_count += 1
            if keep is not None:
                keep()
        return confirmed_count

    def widget(self) -> Any:
        """Return a widget for notebooks that shows one question at a time.

        Returns
        -------
        ipywidgets.VBox
        """
        import ipywidgets as w

        question_box = w.VBox()
        questions = iter(self)

        def show_next_question() -> None:
            """Show the next question, or a text that there are no more."""
            question = next(questions, None)
            if question is None:
                question_box.children = [w.HTML("Nothing more to confirm.")]
                return
            title_widget = w.HTML("<br>".join(escape(str(question)).splitlines()[:3]))
            allowed_meanings = sorted({*ALLOWED_MEANINGS, *question.words.values()})
            menu_by_word = {
                word: w.Dropdown(description=word[:40], options=allowed_meanings, value=meaning)
                for word, meaning in question.words.items()
            }
            yes_button = w.Button(description="Yes")
            no_button = w.Button(description="No")

            def answer(button: object) -> None:
                """Answer the question by the button that was clicked."""
                question.words.update({word: menu.value for word, menu in menu_by_word.items()})
                (question.confirm if button is yes_button else question.reject)()
                show_next_question()

            yes_button.on_click(answer)
            no_button.on_click(answer)
            question_box.children = [
                title_widget,
                *menu_by_word.values(),
                w.HBox([yes_button, no_button]),
            ]

        show_next_question()
        return question_box

    def __repr__(self) -> str:
        lines = [
            f"{question.section.name}  {question.field.at}  {question.field.why}"
            for question in self
        ]
        return "\n".join(lines) or "nothing to confirm"

    def _ipython_display_(self) -> None:
        from IPython.display import display

        display(self.widget())  # type: ignore[no-untyped-call]
