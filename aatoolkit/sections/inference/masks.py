"""Apply masks: boolean columns, such as ``n_isnull``, that say which values of others are valid."""

from __future__ import annotations

from itertools import chain, compress

from aatoolkit._util.lexicon import words_of
from aatoolkit.jsontree.vectors import MISSING
from aatoolkit.sections.inference.findings import ColumnFinding, Relation
from aatoolkit.sections.inference.words import tokens

_EMPTY_VALUES = (0, "", "0", None, MISSING)


def apply_masks(relation: Relation) -> None:
    """Replace values by missing ones where a boolean column marks them as invalid.

    The boolean column is removed. In ``{"n": [3, 0], "n_isnull": [false, true]}``, the second ``n``
    becomes missing.
    """
    for mask in [*relation.columns]:
        object_path, field_name, is_in_list = _split_path(mask)
        words = [word for word in tokens(field_name) if word not in words_of("mask", "shell")]
        masked_words = [
            word for word in words if word not in words_of("valid_mask", "denying_mask")
        ]
        marks_invalid = not words_of("denying_mask").isdisjoint(words)
        allowed_flags = (0, 1, None, MISSING) if is_in_list else (False, True)
        is_mask = len(masked_words) < len(words) or (
            is_in_list and field_name[:3] == "has" and not masked_words
        )
        if not is_mask or any(
            type(flag) is float or flag not in allowed_flags for flag in mask.values
        ):
            continue
        masked_columns = [
            column
            for column in relation.columns
            for column_object_path, name, is_item in [_split_path(column)]
            if column is not mask and (column_object_path, is_item) == (object_path, is_in_list)
            and (list(tokens(name)) == masked_words if masked_words else is_in_list)
        ]  # fmt: skip
        is_hidden = [flag == marks_invalid for flag in mask.values]
        hidden_values = chain(*(compress(column.values, is_hidden) for column in masked_columns))
        if masked_columns and all(value in _EMPTY_VALUES for value in hidden_values):
            relation.columns.remove(mask)
            for column in masked_columns:
                column.valid, column.is_label = "!" * marks_invalid + mask.source, False
                pairs = zip(column.values, is_hidden, strict=True)
                column.values = [MISSING if is_missing else value for value, is_missing in pairs]


def _split_path(column: ColumnFinding) -> tuple[str, str, bool]:
    """Return the path of a column's object, the column's name, and whether it is a list."""
    object_path, _, field_name = column.path.rpartition(".")
    return object_path, field_name.removesuffix("[]"), field_name.endswith("[]")
