"""Archives: every answer of many hosts over time, as Delta tables, and what is derived of them.

In come a client, a study or payloads (`Archive.add`); out come frames with metadata, histories,
SQL and files that any engine reads. In reading order:

- ``archive``: `Archive`, the public class.
- ``store``: Delta tables by name, with typed errors; ``schema``: declared tables as Delta schemas;
  ``tables``: made where missing, extended where declarations grow.
- ``answers``: one response as a row; ``index``: which responses there are; ``responses``: the
  archive as a store of responses.
- ``runs``: the log of runs, by which a run is whole or not there; ``writer``: one run;
  ``checksums``: those of the files.
- ``derive``: responses to rows, many at once; ``statement_tables``: what they state of
  themselves, as rows; ``buffer``: rows until they are written; ``add``: fetching and resuming;
  ``report``: what was added and what failed; ``workers``: fetching and normalising elsewhere.
- ``snapshot``: the files of committed runs; ``selection``: hosts, times and scope as conditions;
  ``table_reader``: one table of a snapshot.
- ``frames``: rows as frames with availability, units and sources; ``history``: one row a key and
  day; ``query``: SQL, Dask and what there is.
- ``upkeep``: compact, sweep and forget; ``check``: verify; ``rebuild``: tables anew from the
  answers.
"""

from __future__ import annotations

from aatoolkit.archive.archive import Archive
from aatoolkit.archive.report import AddReport

__all__ = ["AddReport", "Archive"]
