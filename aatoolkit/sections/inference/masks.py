"""Apply boolean columns that say which values of other columns are valid, such as ``n_isnull``."""

from __future__ import annotations

from itertools import chain, compress

from aatoolkit._util.lexicon import words_of
from aatoolkit.jsontree.vectors import MISSING
from aatoolkit.sections.inference.findings import DraftColumn, DraftTable
from aatoolkit.sections.inference.words import split_name

_EMPTY_VALUES = (0, "", "0", None, MISSING)


def apply_masks(table: DraftTable) -> None:
    """Replace values by missing ones where a boolean column marks them as invalid.

    The boolean column is removed. In ``{"n": [3, 0], "n_isnull": [false, true]}``, the second ``n``
    becomes missing.
    """
    for mask_column in [*table.columns]:
        object_path, field_name, is_in_list = _split_path(mask_column)
        name_words = [
            word for word in split_name(field_name) if word not in words_of("mask", "shell")
        ]
        masked_words = [
            word for word in name_words if word not in words_of("valid_mask", "denying_mask")
        ]
        marks_invalid = not words_of("denying_mask").isdisjoint(name_words)
        allowed_flags = (0, 1, None, MISSING) if is_in_list else (False, True)
        is_mask = len(masked_words) < len(name_words) or (
            is_in_list and field_name[:3] == "has" and not masked_words
        )
        if not is_mask or any(
            type(flag) is float or flag not in allowed_flags for flag in mask_column.values
        ):
            continue
        masked_columns = [
            column
            for column in table.columns
            for column_object_path, name, is_list_field in [_split_path(column)]
            if column is not mask_column
            and (column_object_path, is_list_field) == (object_path, is_in_list)
            and (list(split_name(name)) == masked_words if masked_words else is_in_list)
        ]  # fmt: skip
        invalid_flags = [flag == marks_invalid for flag in mask_column.values]
        invalid_values = chain(
            *(compress(column.values, invalid_flags) for column in masked_columns)
        )
        if masked_columns and all(value in _EMPTY_VALUES for value in invalid_values):
            table.columns.remove(mask_column)
            for column in masked_columns:
                column.valid_path = "!" * marks_invalid + mask_column.source
                column.is_label = False
                values_and_flags = zip(column.values, invalid_flags, strict=True)
                column.values = [
                    MISSING if is_invalid else value for value, is_invalid in values_and_flags
                ]


def _split_path(column: DraftColumn) -> tuple[str, str, bool]:
    """Split the path of a column.

    Returns
    -------
    str
        The path of the JSON object that has the field of the column.
    str
        The name of the field.
    bool
        Whether the field is a list.
    """
    object_path, _, field_name = column.path.rpartition(".")
    return object_path, field_name.removesuffix("[]"), field_name.endswith("[]")
