"""The methods that maintain an archive: compact, forget, verify, rebuild and cut studies."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from aatoolkit.archive.reader import ArchiveReader
from aatoolkit.archive.report import AddReport
from aatoolkit.archive.selection import Selection, When
from aatoolkit.archive.store import typed
from aatoolkit.errors import ArchiveError
from aatoolkit.jsontree.layout import MAX_NODES
from aatoolkit.scope import Scope
from aatoolkit.sections import Profile
from aatoolkit.sections.profile import ProfileSource

if TYPE_CHECKING:
    from aatoolkit.archive.check import ArchiveCheck
    from aatoolkit.archive.upkeep import UpkeepReport
    from aatoolkit.study.study import Study


class ArchiveKeeper(ArchiveReader):
    """The methods that change an archive without adding answers; see `aatoolkit.Archive`."""

    _profile: Profile | None = None
    _max_nodes: int = MAX_NODES

    @typed
    def compact(self, *, keep_hours: float = 168.0) -> UpkeepReport:
        """Join small files, sort them by host, and delete the ones no reader needs any more.

        What interrupted runs left behind is removed after a day. Others may read and add
        meanwhile.

        Parameters
        ----------
        keep_hours : float
            How long files that were replaced are kept for readers that began before. 0 removes
            them at once, where nobody reads.

        Returns
        -------
        UpkeepReport
            Files and bytes before and after.

        Raises
        ------
        ArchiveError
            If there is no archive, or it cannot be written to.
        """
        from aatoolkit.archive import upkeep

        self._writable()
        return upkeep.compact(self._store, keep_hours=keep_hours)

    @typed
    def forget(
        self, hosts: str | Iterable[str] | None = None, *, before: When | None = None
    ) -> UpkeepReport:
        """Remove answers with all rows derived of them, and the files that held them.

        On an object store the commits of the last 30 days stay, whose statistics may name a host.

        Parameters
        ----------
        hosts : str or iterable of str, optional
            The hosts; all if only a time is given.
        before : str, date or datetime, optional
            What was fetched before this day or moment; all if only hosts are given.

        Returns
        -------
        UpkeepReport
            What was removed, and what is left.

        Raises
        ------
        ArchiveError
            If neither is given, or there is no archive.
        ArchiveConflict
            If another process changed the same rows; forget again.
        """
        from aatoolkit.archive import upkeep

        self._writable()
        listed = None if hosts is None else [*(Selection.of(hosts).hosts or ())]
        return upkeep.forget(self._store, listed, Selection.of(since=before).since)

    @typed
    def verify(self, *, replay: bool = False) -> ArchiveCheck:
        """Check every file, every answer against its hash, every table against its answers.

        Data files and the entries of logs are compared with the SHA-256 that they were written
        with, bodies with their own, the number of commits and runs with those recorded, and the
        rows of each table are counted against what its answers gave.

        Parameters
        ----------
        replay : bool
            Whether to normalise the answers again too, and compare every row. It finds rows that
            this version would read otherwise, where nothing was damaged.

        Returns
        -------
        ArchiveCheck
            What is wrong; true if nothing is.
        """
        from aatoolkit.archive import check

        return check.verify(self._store, self._profile, self._max_nodes, replay=replay)

    @typed
    def rebuild(
        self, *, profile: ProfileSource | None = None, progress: bool | None = None
    ) -> AddReport:
        """Rebuild the tables from the stored answers, after a declaration or a profile changed.

        Each table changes in one commit, and `changes` says what changed. Runs that were under
        way cannot be committed after it: adding again continues them.

        Parameters
        ----------
        profile : Profile, module, str or path, optional
            What is known of the service; by default what the archive was opened with.
        progress : bool, optional
            Whether to show a progress bar.

        Returns
        -------
        AddReport
            Its ``problems`` are the answers that give no tables.
        """
        from aatoolkit.archive.rebuild import rebuild

        self._writable()
        known = self._profile if profile is None else Profile.load(profile)
        problems = rebuild(self._store, known, self._max_nodes, progress)
        return AddReport(None, problems=problems)

    def study(
        self,
        path: str | os.PathLike[str],
        *,
        hosts: str | Iterable[str] | None = None,
        since: When | None = None,
        until: When | None = None,
        scope: Scope | None = None,
        **about: Any,
    ) -> Study:
        """Cut a study from the archive: a sealed folder of answers, to cite and to publish.

        Parameters
        ----------
        path : str or path
            A new or empty folder.
        hosts, since, until, scope
            As for `read`.
        **about
            ``title``, ``description`` and ``creators``, as for `Study.create`.

        Raises
        ------
        StudyError
            If the folder is not empty.
        """
        from aatoolkit.archive.cut import cut

        selection = Selection.of(hosts, since, until, scope).before(self._until)
        with self._store.typed():
            return cut(self._snapshot(), selection, path, about)

    def _writable(self) -> None:
        self._snapshot()
        if self._until is not None:
            raise ArchiveError("an archive as of a moment is read-only; change the archive itself")
