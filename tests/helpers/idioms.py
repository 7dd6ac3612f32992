"""Ordinary lines of pandas that fit any table: what people do with a frame between two looks at it.

Each is a function of a frame that gives a frame. `KEEPING` leave every row with its label, so
that a row is known by it; `RENEWING` make rows or labels anew. A line that does not apply to a
table (no number, no text, no second key) gives None. What is in `OPERATIONS` of
``test_pandas_contract`` is not here, too.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable

import pandas as pd
from carried import metadata_of

Frame = pd.DataFrame
Idiom = Callable[[Frame], Frame | None]


def numbers(frame: Frame) -> list[str]:
    """The columns of numbers that hold a value."""
    return [
        name
        for name in frame.select_dtypes("number")
        if frame[name].notna().any() and not pd.api.types.is_bool_dtype(frame[name].dtype)
    ]


def number(frame: Frame) -> str:
    """One column of numbers."""
    return numbers(frame)[0]


def last_number(frame: Frame) -> str:
    """Another column of numbers, if there is one."""
    return numbers(frame)[-1]


def texts(frame: Frame) -> list[str]:
    """The columns of text or categories."""
    return [
        str(name)
        for name in frame
        if isinstance(frame[name].dtype, pd.StringDtype | pd.CategoricalDtype)
    ]


def text(frame: Frame) -> str:
    """One column of text."""
    return texts(frame)[0]


def last_text(frame: Frame) -> str:
    """Another column of text, if there is one."""
    return texts(frame)[-1]


def key(frame: Frame) -> list[str]:
    """The columns that identify a row."""
    return [*metadata_of(frame).key]


def floats(frame: Frame) -> Frame:
    """The numbers as numpy's floats, as many functions want them."""
    return frame[numbers(frame)].astype(float)


def changed(frame: Frame, write: Callable[[Frame], object]) -> Frame:
    """A copy that is written to."""
    frame = frame.copy()
    write(frame)
    return frame


def put(frame: Frame, name: str, value: object) -> Frame:
    frame = frame.copy()
    frame[name] = value
    return frame


def put_some(frame: Frame, name: str, value: object) -> Frame:
    """Write to every other row."""
    frame = frame.copy()
    frame.loc[frame.index[::2], name] = value
    return frame


def put_one(frame: Frame, name: str, place: int, value: object) -> Frame:
    frame = frame.copy()
    frame.iloc[place, frame.columns.get_loc(name)] = value
    return frame


def plain(frame: Frame) -> Frame:
    """A table of one's own, of some of the names."""
    return pd.DataFrame({text(frame): [*frame[text(frame)].dropna().unique()][:3], "owner": "me"})


KEEPING: dict[str, Idiom] = {
    "mask": lambda df: df[df[number(df)] > df[number(df)].median()],
    "head": lambda df: df.head(3),
    "drop the key": lambda df: df.drop(columns=key(df)),
    "drop_duplicates of numbers": lambda df: df[numbers(df)].drop_duplicates(),
    "pickle": lambda df: pickle.loads(pickle.dumps(df)),
    "sort": lambda df: df.sort_values(number(df)),
    "to numpy's dtypes": lambda df: df.assign(**floats(df)),
    "transform beside": lambda df: df.assign(
        total=df.groupby(text(df), observed=True)[number(df)].transform("sum")
    ),
    "map to a column": lambda df: df.assign(short=df[text(df)].astype("string").str[:2]),
    "turn the names of numbers": lambda df: df.rename(
        columns=dict(zip(numbers(df), [*numbers(df)[1:], numbers(df)[0]], strict=True))
    ),
    "fillna 0": lambda df: df.fillna(dict.fromkeys(df.select_dtypes("number"), 0)),
    "fillna with the mean": lambda df: df.assign(**floats(df).fillna(floats(df).mean())),
    "fill, then cut": lambda df: df.fillna(dict.fromkeys(df.select_dtypes("number"), 0)).head(2),
    "fill, then mask": lambda df: df.fillna(dict.fromkeys(df.select_dtypes("number"), 0)).query(
        f"`{last_number(df)}` == 0"
    ),
    "sort, then ffill": lambda df: df.sort_values(number(df)).ffill(),
    "interpolate at the ends": lambda df: df.assign(
        **floats(df).interpolate(limit_direction="both")
    ),
    "write to some": lambda df: put_some(df, number(df), 1),
    "write to the last": lambda df: put_one(df, number(df), -1, 999),
    "write a missing value": lambda df: put_one(df, last_number(df), 0, pd.NA),
    "write, then cut it": lambda df: put_one(df, number(df), 0, 999).iloc[:1],
    "write, then cut the rest": lambda df: put_one(df, number(df), 0, 999).iloc[1:],
    "loc of a mask": lambda df: changed(
        df, lambda copy: copy.loc.__setitem__((df[number(df)] > 1, number(df)), 1)
    ),
    "exchange two cells": lambda df: put_one(
        put_one(df, number(df), 0, df[number(df)].iloc[1]), number(df), 1, df[number(df)].iloc[0]
    ),
    "where, else 0": lambda df: df.assign(
        **{number(df): df[number(df)].where(df[number(df)] > 1, 0)}
    ),
    "round": lambda df: df.assign(**floats(df).round(1)),
    "shuffle a column": lambda df: df.assign(
        **{number(df): df[number(df)].sample(frac=1, random_state=5).array}
    ),
    "sort a column alone": lambda df: df.assign(**{number(df): df[number(df)].sort_values().array}),
    "one column over another": lambda df: df.assign(**{number(df): df[last_number(df)]}),
    "shift of one": lambda df: df.assign(**{number(df): df[number(df)].shift(-1)}),
    "groupby.ffill": lambda df: df.assign(
        **{name: df.groupby(text(df), observed=True)[name].ffill() for name in numbers(df)}
    ),
}
"""Lines after which a row is still known by its label."""

RENEWING: dict[str, Idiom] = {
    "sort numbers, then number anew": lambda df: df[numbers(df)].sort_values(
        number(df), ignore_index=True
    ),
    "mask numbers, then number anew": lambda df: df[df[number(df)] > 0][numbers(df)].reset_index(
        drop=True
    ),
    "index of names, fill": lambda df: df.set_index(key(df)).fillna(
        dict.fromkeys(df.select_dtypes("number"), 0)
    ),
    "fill, then number anew": lambda df: (
        df.fillna(dict.fromkeys(df.select_dtypes("number"), 0)).iloc[1:].reset_index(drop=True)
    ),
    "append a row of one's own": lambda df: pd.concat(
        [df, df.head(1).assign(**{number(df): 999})], ignore_index=True
    ),
    "concat with keys": lambda df: pd.concat({"a": df.head(2), "b": df.tail(2)}),
    "merge with itself on text": lambda df: df.merge(df[[text(df), number(df)]], on=text(df)),
    "outer merge": lambda df: df.merge(plain(df), on=text(df), how="outer"),
    "merge with the sum": lambda df: df.merge(
        df.groupby(text(df), observed=True, as_index=False)[number(df)].sum(), on=text(df)
    ),
    "merge of the sum alone": lambda df: df[[text(df)]].merge(
        df.groupby(text(df), observed=True, as_index=False)[number(df)].sum(), on=text(df)
    ),
    "groupby.sum of all levels": lambda df: (
        df.astype({text(df): "category"})
        .groupby(text(df), observed=False, as_index=False)[numbers(df)]
        .sum()
    ),
    "groupby.first": lambda df: df.groupby(last_text(df), observed=True, as_index=False).first(),
    "groupby.count": lambda df: df.groupby(text(df), observed=True, as_index=False).count(),
    "a total below": lambda df: pd.concat([df, df[numbers(df)].sum().to_frame().T]),
    "from arrays, attrs kept": lambda df: changed(
        pd.DataFrame({name: df[name].array for name in df}),
        lambda copy: copy.attrs.update(df.attrs),
    ),
    "numbers of others, attrs kept": lambda df: changed(
        df.assign(**{name: df[name].to_numpy()[::-1] for name in numbers(df)}),
        lambda copy: copy.attrs.update(df.attrs),
    ),
}
"""Lines after which rows have other labels, or are other rows."""

IDIOMS = {**KEEPING, **RENEWING}
