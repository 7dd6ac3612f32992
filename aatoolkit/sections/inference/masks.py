"""Apply boolean columns that say which values of other columns are valid, such as ``n_isnull``."""

from __future__ import annotations

from itertools import chain, compress

from aatoolkit._util.lexicon import words_of
from aatoolkit.jsontree.vectors import MISSING
from aatoolkit.sections.inference.draft_tables import DraftTable
from aatoolkit.sections.inference.words import split_name

_EMPTY_VALUES = (0, "", "0", None, MISSING)
_FLAGS = (False, True, None, MISSING)


def apply_masks(table: DraftTable) -> None:
    """Replace values by missing ones where a boolean column marks them as invalid.

    The boolean column is removed. In ``{"n": [3, 0], "n_isnull": [false, true]}``, the second ``n``
    becomes missing.
    """
    valid_or_invalid_words = words_of("valid_mask", "denying_mask")
    for mask_column in [*table.columns]:
        record_path, _, field_name = mask_column.path.rpartition(".")
        name_words = {*split_name(field_name)}
        masked_words = name_words - valid_or_invalid_words - words_of("mask", "shell")
        # A list of flags without a name of its own is of all lists beside it.
        names_masked_fields = len(masked_words) > 0 or field_name.endswith("[]")
        if name_words.isdisjoint(valid_or_invalid_words) or not names_masked_fields:
            continue
        masked_columns = [
            column
            for column in table.columns
            for column_record_path, _, column_field_name in [column.path.rpartition(".")]
            if column is not mask_column
            and column_record_path == record_path
            and (not masked_words or {*split_name(column_field_name)} == masked_words)
        ]
        marks_invalid = not words_of("denying_mask").isdisjoint(name_words)
        invalid_row_mask = [flag == marks_invalid for flag in mask_column.values]
        invalid_values = chain(
            *(compress(column.values, invalid_row_mask) for column in masked_columns)
        )
        if (
            masked_columns
            and all(flag in _FLAGS for flag in mask_column.values)
            and all(value in _EMPTY_VALUES for value in invalid_values)
        ):
            table.columns.remove(mask_column)
            for column in masked_columns:
                column.valid_path = "!" * marks_invalid + mask_column.source
                column.is_label = False
                column.values = [
                    MISSING if is_value_invalid else value
                    for value, is_value_invalid in zip(column.values, invalid_row_mask, strict=True)
                ]
