"""Apply boolean columns that say which values of other columns are valid, such as ``n_isnull``."""

from __future__ import annotations

from itertools import chain, compress

from aatoolkit._util.lexicon import words_of
from aatoolkit.jsontree.vectors import MISSING
from aatoolkit.sections.inference.findings import DraftColumn, DraftTable
from aatoolkit.sections.inference.words import split_name

_EMPTY_VALUES = (0, "", "0", None, MISSING)
_FLAGS = (False, True, None, MISSING)


def apply_masks(table: DraftTable) -> None:
    """Replace values by missing ones where a boolean column marks them as invalid.

    The boolean column is removed. In ``{"n": [3, 0], "n_isnull": [false, true]}``, the second ``n``
    becomes missing.
    """
    for mask_column in [*table.columns]:
        object_path, is_list, name_words = _split_path(mask_column)
        marks_invalid = not words_of("denying_mask").isdisjoint(name_words)
        is_mask = marks_invalid or not words_of("valid_mask").isdisjoint(name_words)
        if not is_mask or any(
            type(flag) is float or flag not in _FLAGS for flag in mask_column.values
        ):
            continue
        mask_words = words_of("mask", "shell", "valid_mask", "denying_mask")
        masked_words = [word for word in name_words if word not in mask_words]
        # A list of flags without a name of its own is of all lists beside it.
        masked_columns = [
            column
            for column in table.columns
            if column is not mask_column
            and _split_path(column)[:2] == (object_path, is_list)
            and (_split_path(column)[2] == masked_words if masked_words else is_list)
        ]
        is_invalid = [flag == marks_invalid for flag in mask_column.values]
        invalid_values = chain(*(compress(column.values, is_invalid) for column in masked_columns))
        if masked_columns and all(value in _EMPTY_VALUES for value in invalid_values):
            table.columns.remove(mask_column)
            for column in masked_columns:
                column.valid_path = "!" * marks_invalid + mask_column.source
                column.is_label = False
                column.values = [
                    MISSING if is_value_invalid else value
                    for value, is_value_invalid in zip(column.values, is_invalid, strict=True)
                ]


def _split_path(column: DraftColumn) -> tuple[str, bool, list[str]]:
    """Split the path of a column.

    Returns
    -------
    str
        The path of the JSON object that has the field of the column.
    bool
        Whether the field is a list.
    list of str
        The words in the name of the field.
    """
    object_path, _, field_name = column.path.rpartition(".")
    is_list = field_name.endswith("[]")
    return object_path, is_list, split_name(field_name)
