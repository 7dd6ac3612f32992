"""Drafts: profiles of services met for the first time, to be reviewed and saved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from aatoolkit._util.files import write_whole
from aatoolkit._util.text import wrapped_in_ipython
from aatoolkit.errors import (
    AAToolkitError,
    ArgumentError,
    ItemNotFound,
    PayloadError,
    did_you_mean,
    near_matches,
)
from aatoolkit.jsontree.paths import Entries, Step
from aatoolkit.profile.asking import BUDGET, Answers, PlannedRequest, ask, engines_of, unvaried
from aatoolkit.profile.candidates import candidates
from aatoolkit.profile.confirming import Confirmation
from aatoolkit.profile.contrast import emptied, shared_states
from aatoolkit.profile.page import page_of
from aatoolkit.profile.section_draft import SectionDraft, counted
from aatoolkit.sections.inference.analysis import Analysis, analyse, take_standard_names
from aatoolkit.sections.inference.source import file_of
from aatoolkit.sections.inference.words import Vocabulary

if TYPE_CHECKING:
    from aatoolkit.client.project import Project
    from aatoolkit.sections import Profile


_UNVARIED = (
    "the scope options list no such values in a form that is recognised, so nothing was learnt "
    "from narrowed answers; name the list in the profile: "
    "sections.scope_options(engine='models[].key')"
)


class Draft(Mapping[str, SectionDraft]):
    """The draft of a service's profile: one `SectionDraft` per section.

    Attributes
    ----------
    requests : list of PlannedRequest
        What was asked, in order.
    errors : dict of str to AAToolkitError
        The sections that could not be read, and why.
    stopped : str
        ``interrupted`` or ``out of time`` where answers are lacking for this reason, else empty.
    unvaried : tuple of str
        The filters that no answer was narrowed by, as the list of their values is not known.
    """

    def __init__(
        self, host: str, base_url: str, answers: Answers, *, standard_names: bool = True
    ) -> None:
        self.host: str = host
        self.base_url: str = base_url
        self.requests: list[PlannedRequest] = answers.requests
        self.errors: dict[str, AAToolkitError] = dict(answers.errors)
        self.answers = answers
        self.stopped: str = answers.stopped
        self.unvaried: tuple[str, ...] = unvaried(answers.options)
        vocabulary = Vocabulary.of(answers.options, answers.whole.values())
        ran, idle = engines_of(answers.options)
        states = shared_states(answers.whole)
        self._sections: dict[str, SectionDraft] = {}
        for name, whole in answers.whole.items():
            parts, empty = answers.parts.get(name, {}), answers.empty.get(name)
            beside = {host: held[name] for host, held in answers.beside.items() if name in held}
            try:
                analysis = analyse(name, whole, parts, vocabulary)
                if standard_names:
                    take_standard_names(analysis, vocabulary)
                if analysis.relations:
                    narrowed = [*parts.values()]
                    places = candidates(
                        whole, narrowed, [*ran, *idle], idle, _maps(analysis),
                        beside=beside, elsewhere=states, empty=empty,
                    )  # fmt: skip
                    analysis.emptied = emptied(analysis.relations, whole, empty)
                    seen = [whole, *narrowed, *beside.values(), *([empty] if empty else [])]
                    headers = [answers.payloads[name].headers] if name in answers.payloads else []
                    self._sections[name] = SectionDraft(analysis, places, seen, headers)
            except Exception as error:  # a fault of ours is one section's, and says what it is
                message = f"{name} could not be drafted: {type(error).__name__}: {error}"
                self.errors[name] = PayloadError(message, section=name, problems=[message])

    def __getitem__(self, name: str) -> SectionDraft:
        if name not in self._sections:
            hint = did_you_mean(near_matches(str(name), self), f"there are {', '.join(self)}")
            raise ItemNotFound(f"no draft of {name!r}; {hint}", key=name)
        return self._sections[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._sections)

    def __len__(self) -> int:
        return len(self._sections)

    def profile(self, name: str = "draft") -> Profile:
        """Return the profile in its present state, to be used without a file."""
        from aatoolkit.sections import Profile

        return Profile(name, *(one.section for one in self.values()), doc=self._title)

    def save(self, path: str | Path, name: str | None = None) -> Path:
        """Write the profile as a Python file, each guess with its evidence in a comment.

        Parameters
        ----------
        path : path
            The file, such as ``acme_service.py``.
        name : str, optional
            The profile's name; by default that of the file.

        Returns
        -------
        Path
            The file.
        """
        from aatoolkit.profile.checking import baseline_of

        path = Path(path)
        name = name or path.stem
        baseline = baseline_of(self.profile(name), self.answers.payloads)
        analyses = [one.analysis for one in self.values()]
        write_whole(path, file_of(name, self._title, analyses, baseline).encode())
        return path

    def confirm(self) -> Confirmation:
        """Walk through the places that may state availability, most useful first.

        In a notebook the result is a small widget; ``draft.confirm().ask()`` asks in a terminal,
        and iterating gives the questions. Sections that are settled are not asked about.
        """
        return Confirmation(self)

    def resume(self, path: str | Path) -> None:
        """Take over the rules of availability from a profile that was saved before.

        Rules that no response fits any more are left out.
        """
        from aatoolkit.sections import Profile

        saved = Profile.load(path) if Path(path).exists() else {}
        for name, section in self.items():
            for rule in saved[name].rules if name in saved else ():
                with suppress(ArgumentError):
                    section.add_rule(rule)

    def report(self, path: str | Path) -> Path:
        """Write a page of HTML for the person who reviews the draft.

        It shows each section's tables, a sample of rows, each column with its evidence, what is
        open and what to ask the vendor.
        """
        return write_whole(path, page_of(self).encode())

    @property
    def _title(self) -> str:
        return f"Drafted from the answers for {self.host}, {len(self.requests)} requests."

    def __repr__(self) -> str:
        lines = [f"<Draft of {self.host}: {len(self)} sections, {len(self.requests)} requests>"]
        if self.stopped:
            lines.append(
                f"  {self.stopped}: {self.answers.unanswered} requests have no answer; draft again "
                "to go on from the cache"
            )
        if self.unvaried:
            lines.append(f"  not varied by {', '.join(self.unvaried)}: {_UNVARIED}")
        width = max(map(len, self), default=0)
        for name, section in self.items():
            tables = f"{len(section.tables)} tables"
            lines.append(f"  {name:<{width}}  {tables:>10}  {counted(section.counts())}")
            lines += [f"  {'':<{width}}  ! {note}" for note in section.notes]
        lines += [f"  {name}: {error}" for name, error in self.errors.items()]
        return "\n".join(lines)

    _repr_pretty_ = wrapped_in_ipython


def _maps(analysis: Analysis) -> set[tuple[Step, ...]]:
    """The paths at which a section has objects whose keys are data."""
    return {
        one.steps[:at]
        for one in analysis.relations
        for at, step in enumerate(one.steps)
        if isinstance(step, Entries)
    }


def draft(
    project: Project,
    *,
    requests: int = BUDGET,
    seconds: float | None = 120.0,
    sections: Iterable[str] | None = None,
    hosts: Iterable[str] = (),
    progress: bool | None = None,
    standard_names: bool = True,
) -> Draft:
    """Draft the profile of a service from its answers, within a budget of requests.

    Asks for the scope options, each section, the combined view, and for some engines alone.
    Nothing undocumented is asked. Only what is proved or likely is applied; what a wrong guess
    would break, sums and ratios, only if proved.

    An interrupt, or the end of the time, ends the asking, and the draft is made of what came by
    then. Drafting again goes on from there: answers that are in the cache are not asked for again.

    Parameters
    ----------
    project : Project
        A project of the service.
    requests : int
        The most requests to send; `plan` lists the first ones.
    seconds : float, optional
        The longest time to ask, in seconds; None for no limit.
    sections : iterable of str, optional
        The sections; all of them if left out.
    hosts : iterable of str
        Other projects of the account, such as one that is not connected or has no answers yet.
        What differs there is shown beside the places that may be about availability; one request
        each where the combined view answers for the sections.
    progress : bool, optional
        Whether to show a progress bar; by default where somebody watches.
    standard_names : bool
        Whether a column whose meaning is known is called as it is everywhere else:
        ``citation_count`` for ``cit``. Its path stays that of the service.

    Raises
    ------
    NotAuthorized, NotVisible
        If nothing could be read for this reason.
    """
    answers = ask(
        project, requests=requests, names=sections, hosts=hosts, seconds=seconds, progress=progress
    )
    url = str(project.client.base_url)
    return Draft(project.host, url, answers, standard_names=standard_names)
