"""Archives: the responses of many hosts over time, and tables of them, as Delta tables.

`Archive.add` takes a client, a study or payloads. What is added can be read as frames with
metadata, as histories, by SQL, and by any engine that reads Delta tables. In reading order:

- ``archive``: `Archive`, the public class, and the archive as a store of responses.
- ``store``: Delta tables by name, with typed errors; the log of runs, by which all rows of a run
  become visible at once; checksums of every file. ``schema``: declared tables as Delta tables,
  which are created when needed and get new columns when declarations do.
- ``snapshot``: the rows of committed runs as SQL views, and selections of rows.
- ``responses``: responses as rows, and an index of those that are stored.
- ``writing``: rows of tables from responses, and the writer of a run; ``adding``: fetch responses
  and resume runs, in this process or by workers.
- ``reading``: one table as rows, history and frames; an overview of all tables; Dask.
- ``upkeep``: compact, sweep and forget; verify, and rebuild the tables from the responses.
"""

from aatoolkit.archive.adding import AddReport as AddReport
from aatoolkit.archive.archive import Archive as Archive
