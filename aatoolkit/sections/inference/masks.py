"""Masks: flags that say which values beside them are none."""

from __future__ import annotations

from itertools import chain, compress

from aatoolkit._util.lexicon import words as lexicon
from aatoolkit.jsontree.vectors import MISSING
from aatoolkit.sections.inference.relations import ColumnFinding, Relation
from aatoolkit.sections.inference.words import tokens

_NOTHING = (0, "", "0", None, MISSING)


def apply_masks(relation: Relation) -> None:
    """Take flags beside values, as in a validity mask, for which of these values are none.

    All that they deny must look like it: 0, or empty.
    """
    for mask in [*relation.columns]:
        holder, field, is_list = _field_of(mask)
        words = [word for word in tokens(field) if word not in lexicon("mask", "shell")]
        stem = [word for word in words if word not in lexicon("valid_mask", "denying_mask")]
        denies = not lexicon("denying_mask").isdisjoint(words)
        flags = (0, 1, None, MISSING) if is_list else (False, True)
        is_mask = len(stem) < len(words) or (is_list and field[:3] == "has" and not stem)
        if not is_mask or any(type(flag) is float or flag not in flags for flag in mask.values):
            continue
        beside = [
            column
            for column in relation.columns
            for around, name, is_item in [_field_of(column)]
            if column is not mask and (around, is_item) == (holder, is_list)
            and (list(tokens(name)) == stem if stem else is_list)
        ]  # fmt: skip
        is_none = [flag == denies for flag in mask.values]
        hidden = chain(*(compress(column.values, is_none) for column in beside))
        if beside and all(value in _NOTHING for value in hidden):
            relation.columns.remove(mask)
            for column in beside:
                column.valid, column.label = "!" * denies + mask.source, False
                pairs = zip(column.values, is_none, strict=True)
                column.values = [MISSING if none else value for value, none in pairs]


def _field_of(column: ColumnFinding) -> tuple[str, str, bool]:
    """Where the last field on the path of a column is, its name, and whether it is a list."""
    holder, _, name = column.path.rpartition(".")
    return holder, name.removesuffix("[]"), name.endswith("[]")
