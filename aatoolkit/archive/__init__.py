"""Archives: every response of many hosts over time, as Delta tables, and what is derived of them.

In come a client, a study or payloads (`Archive.add`); out come frames with metadata, histories,
SQL and files that any engine reads. In reading order:

- ``archive``: `Archive`, the public class.
- ``store``: Delta tables by name, with typed errors; ``schema``: declared tables as Delta schemas;
  ``tables``: made where missing, extended where declarations grow.
- ``runs``: the log of runs, by which a run is whole or not there; ``checksums``: of every file.
- ``snapshot``: the rows of committed runs as views of SQL, and which of them are wanted.
- ``responses``: one response as a row, and which there are; ``responses``: the archive as a store.
- ``derive``: responses to rows, and rows of many until they are written; ``writer``: one run;
  ``add``: fetching and resuming; ``workers``: fetching and normalising elsewhere.
- ``reading``: one table of a snapshot, its rows and history; ``frames``: rows as frames with
  availability, units and sources; ``query``: SQL, Dask and what there is.
- ``upkeep``: compact, sweep and forget; ``check``: verify; ``rebuild``: tables anew from the
  responses.
"""

from __future__ import annotations

from aatoolkit.archive.add import AddReport as AddReport
from aatoolkit.archive.archive import Archive as Archive
