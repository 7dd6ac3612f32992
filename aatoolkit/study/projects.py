"""Projects and clients of a study: recording from a service, or replaying from the study."""

from __future__ import annotations

from typing import Any, TypeVar

from aatoolkit._util.hosts import canonical_host
from aatoolkit.client.client import Client
from aatoolkit.client.project import Project
from aatoolkit.errors import StudyError
from aatoolkit.sections.profile import ProfileSource
from aatoolkit.study.manifest import Writer
from aatoolkit.study.profiles import store_profile
from aatoolkit.study.reader import StudyReader
from aatoolkit.study.recorder import Recorder
from aatoolkit.study.replay import Replay, replaying_client
from aatoolkit.study.rerunning import rerun_study
from aatoolkit.study.storage import StudyStorage

Source = TypeVar("Source", Project, Client)


class StudyProjects(StudyReader):
    """The projects and clients of a study.

    Parameters
    ----------
    storage : StudyStorage
        The files of the study.
    """

    def __init__(self, storage: StudyStorage) -> None:
        super().__init__(storage)
        self._writer: Writer | None = None

    @property
    def is_recording(self) -> bool:
        """Whether answers read through the study are stored."""
        return self._writer is not None

    @property
    def _is_rerun(self) -> bool:
        """Whether the study is being rerun, so that nothing is recorded."""
        return self._writer is None and rerun_study() is not None

    def record(self, source: Source) -> Source:
        """Copy a project or client such that it stores every answer in the study.

        The client's profile, if it has one, is stored too: a replay reads by it. In a rerun the
        project or client replays already, and is given back.

        Parameters
        ----------
        source : Project or Client
            Any project, such as ``aa.demo()``, or any client.

        Raises
        ------
        StudyError
            If the study was opened for replay, or the source is recorded already.

        Examples
        --------
        >>> import tempfile
        >>> import aatoolkit as aa
        >>> with aa.Study.create(f"{tempfile.mkdtemp()}/mine") as study:
        ...     client = study.record(aa.demo().client)
        ...     collected = client.collect(["acme.example", "globex.example"], sections="domains")
        >>> study.hosts
        ('acme.example', 'globex.example')
        """
        if self._is_rerun:
            return source
        writer = self._recording()
        client = source.client if isinstance(source, Project) else source
        if isinstance(client._source, Recorder | Replay):
            raise StudyError("what is recorded or replayed already is not recorded again")
        if client._profile is not None:
            with writer.held():
                store_profile(self, client.base_url, client._profile)
        recorder = Recorder(client._source, writer.append, client.max_nodes)
        recorded = Client._from_source(
            recorder, client.base_url, client.workers, client._profile, client.max_nodes
        )
        return recorded.project(source.host) if isinstance(source, Project) else recorded

    def project(
        self,
        host: str,
        *,
        base_url: str | None = None,
        profile: ProfileSource | None = None,
        **settings: Any,
    ) -> Project:
        """Return the project of a host: recording from the service, or replaying from the study.

        Parameters
        ----------
        host : str
            The project's domain.
        base_url : str, optional
            The service. For a replay, only needed if the study holds answers of several.
        profile : Profile, module, str or path, optional
            What is known of the service, as for `Client`. A replay uses the one that the study
            was recorded with if it is left out.
        **settings
            Settings of the client, as for ``aa.project``; a replay takes none.

        Raises
        ------
        StudyError
            If the study is damaged, has no answers about the host, or settings are given to a
            replay.
        """
        if self._writer is not None:
            return self.record(Client(base_url, profile=profile, **settings).project(host))
        if self._is_rerun:
            base_url = base_url if any(base_url == one.base_url for one in self.current) else None
        elif settings:
            raise StudyError(
                f"a replay uses no service and takes no {', '.join(settings)}; "
                "to go on recording use Study.resume(path)",
                path=str(self.path),
            )
        name = canonical_host(host)
        if base_url is None and name not in self.hosts:
            raise StudyError(
                f"the study at {self.path} has no answers about {name}; it has answers about "
                f"{', '.join(self.hosts) or 'no host'}",
                path=str(self.path),
            )
        return replaying_client(self, base_url, name, profile).project(name)

    def client(
        self, base_url: str | None = None, *, profile: ProfileSource | None = None
    ) -> Client:
        """Return a client that answers from the study alone, for ``collect`` and ``datasets``.

        Parameters
        ----------
        base_url, profile
            As for `project`.

        Raises
        ------
        StudyError
            If the study is damaged, holds nothing, or holds answers of several services.
        """
        return replaying_client(self, base_url, profile=profile)

    def _recording(self) -> Writer:
        if self._writer is None:
            raise StudyError(
                "this study was opened for replay; to go on recording use Study.resume(path)",
                path=str(self.path),
            )
        return self._writer
