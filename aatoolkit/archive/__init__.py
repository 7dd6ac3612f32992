"""Archives: the responses of many hosts over time, and the tables made from them.

`Archive.add` fetches responses and stores them in Delta tables (Delta Lake). Read the archive as
DataFrames, by SQL, or with any engine that reads Delta tables. The modules, in reading order:

- ``archive``: `Archive`, the public class.
- ``store``: the Delta tables, the log of all calls that changed the archive, and checksums.
- ``schema``: the columns of the Delta tables.
- ``snapshot``: SQL queries on the tables, and selections by host, time and scope (the filters).
- ``responses``: responses as rows of the table ``responses``.
- ``writing``: convert responses to tables, and write both.
- ``adding``: fetch responses, and continue after an interruption.
- ``reading``: a table as a DataFrame, a history or a Dask DataFrame.
- ``upkeep``: compact, forget, verify and rebuild.
"""

from aatoolkit.archive.adding import AddReport as AddReport
from aatoolkit.archive.archive import Archive as Archive
