"""Guess the tables in the responses of a service, for a person to review and save."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from aatoolkit._util.attributes import ReadOnlyMapping
from aatoolkit._util.defaults import MAX_DRAFT_REQUESTS
from aatoolkit._util.files import write_bytes
from aatoolkit._util.lexicon import is_word_of
from aatoolkit._util.text import counted, print_wrapped
from aatoolkit.errors import AAToolkitError, ArgumentError, PayloadError, item_not_found
from aatoolkit.jsontree.paths import NamedColumn, parse_pattern
from aatoolkit.profile.asking import (
    PlannedRequest,
    Responses,
    fetch_responses,
    find_engine_labels,
    find_engines,
)
from aatoolkit.profile.checking import describe_baseline, find_optional_paths
from aatoolkit.profile.confirming import Confirmation
from aatoolkit.profile.possible_fields import (
    count_meanings,
    find_emptied_paths,
    find_possible_fields,
)
from aatoolkit.profile.response_values import ResponseStructure
from aatoolkit.profile.section_draft import SectionDraft, format_counts
from aatoolkit.sections.inference.analysis import analyse_section, apply_standard_names
from aatoolkit.sections.inference.profile_code import format_profile
from aatoolkit.sections.inference.words import Vocabulary
from aatoolkit.sections.profile import Profile

if TYPE_CHECKING:
    from aatoolkit.client.client import Project


class Draft(ReadOnlyMapping[str, SectionDraft]):
    """The guessed description of a service's JSON: maps section names to `SectionDraft` objects.

    A section is one kind of response, such as ``domains``. `draft` returns this object. Correct it
    by `SectionDraft.set`, and save it as a Python file by `save`.

    Attributes
    ----------
    host : str
        The host whose data were requested.
    requests : list of PlannedRequest
        The requests, in the order of sending.
    errors : dict of str to AAToolkitError
        Maps each section that could not be requested or guessed to its error.
    responses : Responses
        The JSON that the draft was made from.
    stopped : str
        ``interrupted`` or ``out of time`` if requests were stopped, else empty.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> draft = aa.profile.draft(aa.demo(), sections=["urls"], requests=2)
    >>> [*draft], draft["urls"].tables[0]
    (['urls'], 'urls')
    """

    def __init__(self, host: str, responses: Responses, *, standard_names: bool = True) -> None:
        self.host: str = host
        self.requests: list[PlannedRequest] = responses.requests
        self.errors: dict[str, AAToolkitError] = dict(responses.errors)
        self.responses = responses
        self.stopped: str = responses.stopped
        options_by_host = [responses.options, *responses.options_by_host.values()]
        vocabulary = Vocabulary.from_responses(options_by_host, responses.documents.values())
        active_and_inactive_engines = find_engines(responses.options)
        engines_by_host = {
            host: find_engines(host_options)
            for host, host_options in responses.options_by_host.items()
        }
        engine_by_label: dict[str, str] = {}
        for host_options in reversed(options_by_host):
            engine_by_label |= find_engine_labels(host_options)
        self._items: dict[str, SectionDraft] = {}
        for name, document in responses.documents.items():
            response_by_engines = responses.by_engines.get(name, {})
            unmeasured_response = responses.unmeasured.get(name)
            response_by_host = {
                host: documents[name]
                for host, documents in responses.by_host.items()
                if name in documents
            }
            try:
                own_responses = [document, *response_by_engines.values()]
                other_responses = [*filter(None, (*response_by_host.values(), unmeasured_response))]
                readable_responses = [  # an error, or a text in the place of data, shows no table
                    response
                    for response in other_responses
                    if isinstance(response, dict)
                    and not any(is_word_of(key, "error") for key in response)
                ]
                analysis = analyse_section(
                    name, document, response_by_engines, vocabulary, readable_responses
                )
                if not analysis.draft_tables:
                    continue
                if standard_names:
                    apply_standard_names(analysis, vocabulary)
                header_paths = {
                    parse_pattern(table.rows.path): table.rows.header
                    for table in analysis.declaration
                    if table.rows.header is not None
                }
                # In a table with labels of rows, each column names the list of column names.
                header_paths |= {
                    parse_pattern(table.rows.path): step.header
                    for table in analysis.declaration
                    for column in table.columns
                    if (column.source or "").startswith('["')
                    for step in parse_pattern(column.source)
                    if isinstance(step, NamedColumn)
                }
                main_row_path = analysis.draft_tables[0].steps
                structure = ResponseStructure(
                    engine_by_label, analysis.data_key_object_paths, header_paths, main_row_path
                )
                possible_fields = find_possible_fields(
                    document,
                    response_by_engines,
                    *active_and_inactive_engines,
                    structure,
                    response_by_host,
                    unmeasured_response,
                    engines_by_host,
                )
                analysis.emptied_paths = find_emptied_paths(
                    analysis.draft_tables, document, unmeasured_response
                )
                analysis.optional_paths = find_optional_paths(
                    analysis, [*own_responses, *readable_responses]
                )
                payload = responses.payloads.get(name)
                headers = payload.headers if payload is not None else {}
                self._items[name] = SectionDraft(
                    analysis, possible_fields, own_responses + other_responses, headers
                )
            except Exception as error:  # a fault of ours is one section's, and says what it is
                message = f"{name} could not be drafted: {type(error).__name__}: {error}"
                self.errors[name] = PayloadError(message, section=name, problems=[message])

        section_drafts = self._items.values()
        meaning_counts = count_meanings(
            possible_field
            for section_draft in section_drafts
            for possible_field in section_draft.possible_fields
        )
        for section_draft in section_drafts:
            section_draft.possible_fields = tuple(
                possible_field.with_commonest_meanings(meaning_counts)
                for possible_field in section_draft.possible_fields
            )

    def __getitem__(self, name: str) -> SectionDraft:
        if name not in self._items:
            raise item_not_found("draft", name, self)
        return self._items[name]

    def profile(self, name: str = "draft") -> Profile:
        """Return the guessed tables as a `Profile`, which can be used without saving it.

        Parameters
        ----------
        name : str
            The name of the profile.

        Returns
        -------
        Profile
            Maps the name of each section to a `Section`; pass it as ``profile=`` to `Client`.
        """
        sections = [section_draft.section for section_draft in self.values()]
        if self.responses.scope_options is not None:
            sections.append(self.responses.scope_options)
        return Profile(name, *sections, doc=self._title)

    def save(self, path: str | Path, name: str | None = None) -> Path:
        """Write the guessed tables as a Python file to read and edit, with reasons in comments.

        Parameters
        ----------
        path : path
            The path of the file to write, such as ``acme_service.py``.
        name : str, optional
            The name of the profile; by default the name of the file without its suffix.

        Returns
        -------
        Path
            The path of the file; pass it as ``profile=`` to `Client`.
        """
        path = Path(path)
        name = name or path.stem
        baseline = describe_baseline(self.profile(name), self.responses.payloads)
        analyses = [section_draft.analysis for section_draft in self.values()]
        scope_options = self.responses.scope_options
        return write_bytes(
            path, format_profile(name, self._title, analyses, baseline, scope_options).encode()
        )

    def confirm(self) -> Confirmation:
        """Return the questions to a person: which fields say that data are missing?

        A notebook shows them as a widget. In a terminal, ``draft.confirm().ask()`` asks them one by
        one. Each question proposes a meaning for each text of a field: a status or cause, such as
        ``not_run``, or ``nothing`` for a text that is not about missing data. Type
        ``waiting=not_run`` to correct the meaning of the text ``waiting``, and then ``y`` for yes.

        Returns
        -------
        Confirmation
            The open questions.
        """
        return Confirmation(self)

    def resume(self, path: str | Path) -> None:
        """Copy the answers that a person gave for an earlier draft from its saved file.

        The answers say which fields state that data are missing, and the meaning of each of their
        texts. An answer that fits none of the responses is left out.

        Parameters
        ----------
        path : path
            The path of the saved file. If the file does not exist, the draft stays unchanged.
        """
        saved_profile = Profile.load(path) if Path(path).exists() else {}
        for name, section_draft in self.items():
            for rule in saved_profile[name].rules if name in saved_profile else ():
                with suppress(ArgumentError):
                    section_draft.add_rule(rule)

    @property
    def _title(self) -> str:
        """The first line of the saved file: the host, and the number of requests."""
        return (
            f"Drafted from the responses for {self.host}, {counted(len(self.requests), 'request')}."
        )

    def __repr__(self) -> str:
        counts_text = f"{counted(len(self), 'section')}, {counted(len(self.requests), 'request')}"
        lines = [f"<Draft of {self.host}: {counts_text}>"]
        if self.stopped:
            lines.append(
                f"  {self.stopped}: no response to "
                f"{counted(self.responses.unanswered, 'request')}; "
                "draft again to go on from the cache"
            )
        if self.responses.options and not any(find_engines(self.responses.options)):
            lines.append(
                "  no engine was asked for alone, which shows what can be summed: no list of "
                "engines was recognised in the scope options; say where it is by a profile with "
                "sections.scope_options(engine='models[].key'), and draft again with it"
            )
        name_width = max(map(len, self), default=0)
        for name, section in self.items():
            table_count_text = counted(len(section.tables), "table")
            lines.append(
                f"  {name:<{name_width}}  {table_count_text:>10}  {format_counts(section.counts())}"
            )
            lines += [f"  {'':<{name_width}}  ! {note}" for note in section.notes]
        return "\n".join([*lines, *(f"  {name}: {error}" for name, error in self.errors.items())])

    _repr_pretty_ = print_wrapped


def draft(
    project: Project,
    *,
    requests: int = MAX_DRAFT_REQUESTS,
    seconds: float | None = 120.0,
    sections: Iterable[str] | None = None,
    hosts: Iterable[str] = (),
    progress: bool | None = None,
    standard_names: bool = True,
) -> Draft:
    """Guess which tables, columns and units are in the responses of a service.

    Each section (one kind of response, such as ``domains``) is requested, and the list of filter
    values. Then sections are requested for single engines. This shows which columns can be summed.
    A guess about sums or ratios is applied only if the numbers prove it. Other guesses are applied
    if they are proved or likely.

    Ctrl-C or the time limit stops the requests. The draft is then made from the responses received
    so far. Calling `draft` again requests only the rest, because responses are cached.

    Parameters
    ----------
    project : Project
        A project of the service, as from `aatoolkit.project`.
    requests : int
        The maximum number of requests. `Draft.requests` lists those that were sent.
    seconds : float, optional
        The time limit for all requests, in seconds; None for no limit.
    sections : iterable of str, optional
        The names of the sections to request; by default those of the reference service.
    hosts : iterable of str
        The hosts of other projects of the same account, whose responses are compared. A project
        without data is the most useful. Each host takes at least two requests.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal only.
    standard_names : bool
        Whether to rename columns as in the reference service where their meaning is known, such as
        ``cit`` to ``citation_count``.

    Returns
    -------
    Draft
        Maps the name of each section to its `SectionDraft`, to review, correct and save.

    Raises
    ------
    NotAuthorized, NotVisible
        If the service refuses all of the first requests.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> draft = aa.profile.draft(aa.demo(), sections=["urls"], requests=2)
    >>> draft["urls"].review.loc[("urls", "citation_count"), "unit"]
    'count'
    """
    responses = fetch_responses(
        project,
        max_requests=requests,
        section_names=sections,
        hosts=hosts,
        max_seconds=seconds,
        progress=progress,
    )
    return Draft(project.host, responses, standard_names=standard_names)
