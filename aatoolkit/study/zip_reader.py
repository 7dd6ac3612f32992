"""Read a zip file strictly: every byte of it belongs to a member or to the directory.

Other readers accept bytes before, between and after the members, and comments: they would be a
place to hide something that no checksum covers. Here all of that is an error, as are encrypted,
repeated and multi-disk members. The members are checked one after the other, so that a file with
very many bad ones is refused at the first.
"""

from __future__ import annotations

import struct
import threading
import weakref
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

STORED, DEFLATED = 0, 8

_END = struct.Struct("<4sHHHHLLH")
_END_64 = struct.Struct("<4sQHHLLQQQQ")
_LOCATOR = struct.Struct("<4sLQL")
_CENTRAL = struct.Struct("<4s4B4HL2L5H2L")
_LOCAL = struct.Struct("<4s2B4HL2L2H")
_ZIP64 = 0x0001
_TIMES_AND_OWNERS = {
    0x000A: (32,),
    0x5455: (1, 5, 9, 13),
    0x5855: (8, 12),
    0x7855: (0, 4),
    0x7875: (3, 7, 11, 15, 19),
}
"""The lengths that extra fields of times and owners have: no more fits in than those."""

_MAX_DIRECTORY = 1 << 26
_ENCRYPTED, _DESCRIPTOR = 0x1, 0x8
_FULL = 0xFFFFFFFF


@dataclass(frozen=True)
class Member:
    """One member of a zip file.

    Attributes
    ----------
    name : bytes
        Its name, as it is stored.
    mode : int
        The permissions and file type, as in ``os.stat``; 0 if not stored.
    method : int
        `STORED` or `DEFLATED`; other methods cannot be read.
    packed, size, crc : int
        The compressed and the original length, and the CRC-32.
    flags : int
        The flag bits.
    offset : int
        Where its local header begins.
    """

    name: bytes
    mode: int
    method: int
    packed: int
    size: int
    crc: int
    flags: int
    offset: int

    @property
    def is_encrypted(self) -> bool:
        """Whether its content is encrypted."""
        return bool(self.flags & _ENCRYPTED)


class ZipReader:
    """A zip file, open for reading; threads may read at once.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    ValueError
        If it is not a zip file, or something follows its directory.
    OSError
        If it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._file = path.open("rb")
        weakref.finalize(self, self._file.close)
        self._length = self._file.seek(0, 2)
        self._begin, self._end, self.count = self._directory()

    def members(self) -> Iterator[Member]:
        """The members in the order of the file, each checked against its local header.

        Raises
        ------
        ValueError
            If a member is damaged, or there are bytes that belong to none.
        """
        directory = self._at(self._begin, self._end - self._begin)
        at = data_end = 0
        for _ in range(self.count):
            member, at = _central(directory, at)
            if member.offset != data_end:
                raise ValueError("there are bytes between its members")
            yield member
            data_end = self._local(member)
        if at != len(directory):
            raise ValueError("its directory holds more than its members")
        if data_end != self._begin:
            raise ValueError("there are bytes before its directory")

    def read(self, member: Member) -> bytes:
        """Read the content of a member.

        Raises
        ------
        ValueError
            If it is not as its header says.
        """
        header = self._at(member.offset, _LOCAL.size)
        _, *_, name, extra = _LOCAL.unpack(header)
        data = self._at(member.offset + _LOCAL.size + name + extra, member.packed)
        if member.method == DEFLATED:
            inflate = zlib.decompressobj(-zlib.MAX_WBITS)
            try:
                data = inflate.decompress(data, member.size + 1)
            except zlib.error as error:
                raise ValueError(str(error)) from None
            if not inflate.eof or inflate.unused_data or inflate.unconsumed_tail:
                raise ValueError("its compressed data does not end where it should")
        if len(data) != member.size or zlib.crc32(data) != member.crc:
            raise ValueError("its length or CRC is wrong")
        return data

    def _at(self, offset: int, length: int) -> bytes:
        if offset < 0 or length < 0 or offset + length > self._length:
            raise ValueError("it ends too early")
        with self._lock:
            self._file.seek(offset)
            data = self._file.read(length)
        if len(data) != length:
            raise ValueError("it ends too early")
        return data

    def _directory(self) -> tuple[int, int, int]:
        """Locate the directory: where it begins and ends, and its number of members."""
        end = self._length - _END.size
        mark, disk, first, here, count, length, begin, comment = _END.unpack(
            self._at(end, _END.size)
        )
        if mark != b"PK\5\6" or comment:
            raise ValueError("it is no zip file, or a comment or other bytes follow it")
        at = end - _LOCATOR.size
        if at >= _END_64.size and self._at(at, 4) == b"PK\6\7":
            end = at - _END_64.size
            mark, _, _, _, disk, first, here, count, length, begin = _END_64.unpack(
                self._at(end, _END_64.size)
            )
            locator = _LOCATOR.unpack(self._at(end + _END_64.size, _LOCATOR.size))
            if mark != b"PK\6\6" or locator != (b"PK\6\7", 0, end, 1):
                raise ValueError("its directory is damaged")
        if disk or first or here != count:
            raise ValueError("it is a part of several")
        if begin + length != end or length > _MAX_DIRECTORY:
            raise ValueError("there are bytes before it, or its directory is damaged")
        return begin, end, count

    def _local(self, member: Member) -> int:
        """Compare a member's local header with the directory; return where the member ends."""
        header = _LOCAL.unpack(self._at(member.offset, _LOCAL.size))
        mark, _, _, flags, method, _, _, crc, packed, size, name, extra = header
        rest = self._at(member.offset + _LOCAL.size, name + extra)
        long = _extras(rest[name:])
        if _FULL in (packed, size) and len(long) == 16:
            size, packed = struct.unpack("<QQ", long)
        elif long:
            raise ValueError("an extra field is of no use")
        later = bool(flags & _DESCRIPTOR)
        expected = (0, 0, 0) if later and not crc else (member.crc, member.packed, member.size)
        if (
            mark != b"PK\3\4"
            or rest[:name] != member.name
            or (flags, method) != (member.flags, member.method)
            or (crc, packed, size) != expected
        ):
            raise ValueError("a local header differs from the directory")
        end = int(member.offset + _LOCAL.size + name + extra + member.packed)
        return end + self._descriptor(member, end) if later else end

    def _descriptor(self, member: Member, end: int) -> int:
        """The length of the data descriptor, which follows a streamed member."""
        for form in ("<LLL", "<LQQ"):
            try:
                facts = struct.pack(form, member.crc, member.packed, member.size)
            except struct.error:
                continue
            for each in (b"PK\7\x08" + facts, facts):
                if end + len(each) <= self._begin and self._at(end, len(each)) == each:
                    return len(each)
        raise ValueError("the sizes after a member are wrong")


def _central(directory: bytes, at: int) -> tuple[Member, int]:
    """Parse the member at a position of the directory; return the next position too."""
    if at + _CENTRAL.size > len(directory):
        raise ValueError("its directory ends too early")
    facts = _CENTRAL.unpack_from(directory, at)
    mark, _, system, _, _, flags, method, _, _, crc, packed, size = facts[:12]
    name_length, extra_length, comment, disk, _, attributes, offset = facts[12:]
    begin = at + _CENTRAL.size
    end = begin + name_length + extra_length
    if mark != b"PK\1\2" or comment or disk or end > len(directory):
        raise ValueError("its directory is damaged, or holds a comment")
    name = directory[begin : begin + name_length]
    long = _extras(directory[begin + name_length : end])
    full = [value == _FULL for value in (size, packed, offset)]
    if len(long) != 8 * sum(full):
        raise ValueError("its directory is damaged")
    longs = iter(struct.unpack(f"<{sum(full)}Q", long))
    size, packed, offset = (
        next(longs) if is_full else value
        for value, is_full in zip((size, packed, offset), full, strict=True)
    )
    mode = attributes >> 16 if system == 3 else 0
    return Member(name, mode, method, packed, size, crc, flags, offset), end


def _extras(extra: bytes) -> bytes:
    """Return the ZIP64 sizes among extra fields; raise for unknown kinds of fields."""
    long, at, known = b"", 0, set[int]()
    while at < len(extra):
        if at + 4 > len(extra):
            raise ValueError("an extra field is damaged")
        kind, length = struct.unpack_from("<HH", extra, at)
        if at + 4 + length > len(extra) or kind in known:
            raise ValueError("an extra field is damaged, or there twice")
        known.add(kind)
        if kind == _ZIP64:
            long = extra[at + 4 : at + 4 + length]
        elif length not in _TIMES_AND_OWNERS.get(kind, ()):
            raise ValueError("an extra field is of no known kind, or longer than that kind is")
        at += 4 + length
    return long
