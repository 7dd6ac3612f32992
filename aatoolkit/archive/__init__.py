"""Archives: the responses of many hosts over time, and tables of them, as Delta tables.

In come a client, a study or payloads (`Archive.add`); out come frames with metadata, histories,
SQL and files that any engine reads. In reading order:

- ``archive``: `Archive`, the public class, and the archive as a store of responses.
- ``store``: Delta tables by name, with typed errors; the log of runs, by which a run is whole or
  not there; checksums of every file. ``schema``: declared tables as Delta tables, made where
  missing, extended where declarations grow.
- ``snapshot``: the rows of committed runs as views of SQL, and which of them are wanted.
- ``responses``: responses as rows, and which there are.
- ``writing``: responses to rows of tables, and one run; ``adding``: fetching and resuming, here or
  by workers.
- ``reading``: one table as rows, history and frames; an overview of all; Dask.
- ``upkeep``: compact, sweep and forget; verify, and tables anew from the responses.
"""

from aatoolkit.archive.adding import AddReport as AddReport
from aatoolkit.archive.archive import Archive as Archive
