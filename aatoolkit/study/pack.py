"""Pack a study into one zip file; the same study gives the same bytes."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from aatoolkit._util.files import write_whole
from aatoolkit.study.storage import StudyStorage

_LONG_AGO = (1980, 1, 1, 0, 0, 0)
_PLAIN_FILE = 0o100644 << 16


def pack(storage: StudyStorage, path: Path) -> Path:
    """Write the files of a study into one zip file, atomically.

    They are stored without compression: the output of a compressor differs between its versions.
    """
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as file:
        for name in storage.names():
            entry = zipfile.ZipInfo(name, _LONG_AGO)
            entry.create_system, entry.external_attr = 3, _PLAIN_FILE
            file.writestr(entry, storage.read(name))
    return write_whole(path, packed.getvalue())
