"""Archives: the responses of many hosts over time, and the tables derived from them.

`Archive.add` takes a client, a study or payloads. The added data can be read as frames with
metadata, as histories, by SQL, and by any engine that reads Delta tables. The modules, in reading
order:

- ``archive``: `Archive`, the public class.
- ``store``: Delta tables by name, with typed errors; the log of runs, which makes all rows of a run
  visible at once; checksums of every file. ``schema``: declared tables as Delta tables, which are
  created when needed, and extended when a declaration gets new columns.
- ``snapshot``: the rows of committed runs as SQL views, and selections of rows.
- ``responses``: responses as rows, and an index of the stored responses.
- ``writing``: rows of tables from responses, and the writer of a run; ``adding``: fetch responses
  and resume runs, in this process or in workers.
- ``reading``: one table as rows, history and frames; an overview of all tables; Dask.
- ``upkeep``: compact, sweep and forget; verify, and rebuild the tables from the responses.
"""

from aatoolkit.archive.adding import AddReport as AddReport
from aatoolkit.archive.archive import Archive as Archive
