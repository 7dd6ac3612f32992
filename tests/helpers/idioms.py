"""Ordinary lines of pandas that fit any table: what people do with a frame between two looks at it.

Each is a function of a frame that gives a frame. `KEEPING` leave every row with its label, so
that a row is known by it; `RENEWING` make rows or labels anew. A line that does not apply to a
table (no number, no text, no second key) gives None.
"""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable

import numpy as np
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


def through(frame: Frame, write: str, read: Callable[[io.StringIO], Frame]) -> Frame:
    return read(io.StringIO(getattr(frame, write)()))


KEEPING: dict[str, Idiom] = {
    # looking at some of it
    "one column": lambda df: df[[number(df)]],
    "some columns": lambda df: df[[text(df), number(df)]],
    "to_frame": lambda df: df[number(df)].to_frame(),
    "mask": lambda df: df[df[number(df)] > df[number(df)].median()],
    "mask of text": lambda df: df[df[text(df)] == df[text(df)].iloc[0]],
    "loc": lambda df: df.loc[df[number(df)].notna(), [text(df), number(df)]],
    "iloc": lambda df: df.iloc[2:5],
    "iloc backwards": lambda df: df.iloc[::-1],
    "query": lambda df: df.query(f"`{number(df)}` >= 0"),
    "head": lambda df: df.head(3),
    "tail": lambda df: df.tail(3),
    "head, numbers alone": lambda df: df[numbers(df)].head(3),
    "sample": lambda df: df.sample(frac=0.5, random_state=3),
    "sample with repeats": lambda df: df.sample(len(df) * 2, replace=True, random_state=3),
    "nlargest": lambda df: df.nlargest(3, number(df)),
    "nsmallest": lambda df: df.nsmallest(3, last_number(df)),
    "drop rows": lambda df: df.drop(index=df.index[:2]),
    "drop a column": lambda df: df.drop(columns=text(df)),
    "drop the key": lambda df: df.drop(columns=key(df)),
    "dropna": lambda df: df.dropna(subset=[number(df)]),
    "dropna of all": lambda df: df.dropna(),
    "drop_duplicates": lambda df: df.drop_duplicates(text(df)),
    "drop_duplicates of numbers": lambda df: df[numbers(df)].drop_duplicates(),
    "isin": lambda df: df[df[text(df)].isin([*df[text(df)].head(2)])],
    "between": lambda df: df[df[number(df)].between(1, 10)],
    "contains": lambda df: df[df[text(df)].astype("string").str.contains("a", na=False)],
    "select_dtypes": lambda df: df.select_dtypes("number"),
    "filter of names": lambda df: df.filter(regex="_"),
    "groupby.head": lambda df: df.groupby(text(df), observed=True).head(1),
    "groupby.tail": lambda df: df.groupby(text(df), observed=True).tail(1),
    "groupby.nth": lambda df: df.groupby(text(df), observed=True).nth(0),
    "groupby.filter": lambda df: df.groupby(text(df), observed=True).filter(lambda g: len(g) > 1),
    "idxmax": lambda df: df.loc[[df[number(df)].idxmax()]],
    # arranging it
    "copy": lambda df: df.copy(),
    "deepcopy": copy.deepcopy,
    "pickle": lambda df: pickle.loads(pickle.dumps(df)),
    "sort": lambda df: df.sort_values(number(df)),
    "sort backwards": lambda df: df.sort_values([text(df), number(df)], ascending=False),
    "sort_index": lambda df: df.sort_index(ascending=False),
    "reorder columns": lambda df: df[[*reversed(df.columns)]],
    "convert_dtypes": lambda df: df.convert_dtypes(),
    "to numpy's dtypes": lambda df: df.assign(**floats(df)),
    "to Arrow's dtypes": lambda df: df.convert_dtypes(dtype_backend="pyarrow"),
    "astype object": lambda df: df.astype(object),
    "astype str": lambda df: df.astype(str),
    "astype category": lambda df: df.astype({text(df): "category"}),
    "concat of halves": lambda df: pd.concat([df.iloc[len(df) // 2 :], df.iloc[: len(df) // 2]]),
    "concat beside": lambda df: pd.concat([df[[text(df)]], df[[number(df)]]], axis=1),
    "join": lambda df: df[[text(df)]].join(df[numbers(df)]),
    "combine_first": lambda df: df.combine_first(df),
    "double transpose": lambda df: df.T.T,
    "repeat": lambda df: df.loc[df.index.repeat(2)],
    # adding to it
    "assign": lambda df: df.assign(double=df[number(df)] * 2),
    "set item": lambda df: put(df, "mine", 1),
    "insert": lambda df: changed(df, lambda each: each.insert(0, "mine", 1)),
    "share of all": lambda df: df.assign(part=df[number(df)] / df[number(df)].sum()),
    "cut into bins": lambda df: df.assign(bin=pd.cut(floats(df)[number(df)], 3)),
    "transform beside": lambda df: df.assign(
        total=df.groupby(text(df), observed=True)[number(df)].transform("sum")
    ),
    "get_dummies": lambda df: pd.get_dummies(df, columns=[text(df)]),
    "map to a column": lambda df: df.assign(short=df[text(df)].astype("string").str[:2]),
    # giving other names
    "rename": lambda df: df.rename(columns={number(df): "n"}),
    "rename to upper case": lambda df: df.rename(columns=str.upper),
    "swap two names": lambda df: df.rename(
        columns={number(df): last_number(df), last_number(df): number(df)}
    ),
    "take the name of another": lambda df: df.drop(columns=last_number(df)).rename(
        columns={number(df): last_number(df)}
    ),
    "turn all names": lambda df: df.set_axis([*df.columns[1:], df.columns[0]], axis=1),
    "turn the names of numbers": lambda df: df.rename(
        columns=dict(zip(numbers(df), [*numbers(df)[1:], numbers(df)[0]], strict=True))
    ),
    "add_prefix": lambda df: df.add_prefix("x_"),
    # filling it
    "fillna 0": lambda df: df.fillna(dict.fromkeys(df.select_dtypes("number"), 0)),
    "fillna of one": lambda df: df.fillna({number(df): 0}),
    "fillna of the unmeasured": lambda df: df.assign(
        **{name: df[name].fillna(0) for name in df.select_dtypes("number")}
    ),
    "fillna with the mean": lambda df: df.assign(**floats(df).fillna(floats(df).mean())),
    "fill, then cut": lambda df: df.fillna(dict.fromkeys(df.select_dtypes("number"), 0)).head(2),
    "fill, then mask": lambda df: df.fillna(dict.fromkeys(df.select_dtypes("number"), 0)).query(
        f"`{last_number(df)}` == 0"
    ),
    "fill, then sort": lambda df: (
        df.fillna(dict.fromkeys(df.select_dtypes("number"), 0)).sort_values(last_number(df)).tail(3)
    ),
    "ffill": lambda df: df.ffill(),
    "bfill": lambda df: df.bfill(),
    "sort, then ffill": lambda df: df.sort_values(number(df)).ffill(),
    "interpolate": lambda df: df.assign(**floats(df).interpolate()),
    "interpolate at the ends": lambda df: df.assign(
        **floats(df).interpolate(limit_direction="both")
    ),
    "fill text": lambda df: df.fillna(dict.fromkeys(df.select_dtypes("string"), "none")),
    # writing over it
    "assign 0": lambda df: df.assign(**{number(df): 0}),
    "write to some": lambda df: put_some(df, number(df), 1),
    "write to the first": lambda df: put_one(df, number(df), 0, 999),
    "write to the last": lambda df: put_one(df, number(df), -1, 999),
    "write a missing value": lambda df: put_one(df, last_number(df), 0, pd.NA),
    "write to all missing": lambda df: put(df, last_number(df), pd.NA),
    "write text": lambda df: put_one(df, text(df), 0, df[text(df)].iloc[-1]),
    "write, then cut it": lambda df: put_one(df, number(df), 0, 999).iloc[:1],
    "write, then cut the rest": lambda df: put_one(df, number(df), 0, 999).iloc[1:],
    "loc of a mask": lambda df: changed(
        df, lambda each: each.loc.__setitem__((df[number(df)] > 1, number(df)), 1)
    ),
    "exchange two cells": lambda df: put_one(
        put_one(df, number(df), 0, df[number(df)].iloc[1]), number(df), 1, df[number(df)].iloc[0]
    ),
    "clip": lambda df: df.assign(
        **{number(df): df[number(df)].clip(upper=df[number(df)].median())}
    ),
    "replace": lambda df: df.replace({number(df): {df[number(df)].iloc[0]: 77}}),
    "where": lambda df: df.assign(**{number(df): df[number(df)].where(df[number(df)] > 1)}),
    "where, else 0": lambda df: df.assign(
        **{number(df): df[number(df)].where(df[number(df)] > 1, 0)}
    ),
    "mask to missing": lambda df: df.assign(
        **{number(df): df[number(df)].mask(df[number(df)] > 1)}
    ),
    "round": lambda df: df.assign(**floats(df).round(1)),
    "to percent": lambda df: df.assign(**{last_number(df): df[last_number(df)] * 100}),
    "times 100 of all": lambda df: df[numbers(df)] * 100,
    "negative": lambda df: df.assign(**{number(df): -df[number(df)]}),
    "update": lambda df: changed(
        df, lambda each: each.update(pd.DataFrame({number(df): [5] * 2}, index=df.index[:2]))
    ),
    "eval": lambda df: df.eval(f"`{number(df)}_twice` = `{number(df)}` * 2"),
    "lower case": lambda df: df.assign(**{text(df): df[text(df)].astype("string").str.upper()}),
    "strip a part": lambda df: df.assign(**{text(df): df[text(df)].astype("string").str[:3]}),
    "shuffle a column": lambda df: df.assign(
        **{number(df): df[number(df)].sample(frac=1, random_state=5).array}
    ),
    "sort a column alone": lambda df: df.assign(**{number(df): df[number(df)].sort_values().array}),
    "sort text alone": lambda df: df.assign(**{text(df): df[text(df)].sort_values().array}),
    "one column over another": lambda df: df.assign(**{number(df): df[last_number(df)]}),
    "shift": lambda df: df.shift(1),
    "shift of one": lambda df: df.assign(**{number(df): df[number(df)].shift(-1)}),
    "diff": lambda df: floats(df).diff(),
    "pct_change": lambda df: floats(df).pct_change(fill_method=None),
    "cumsum": lambda df: df[numbers(df)].cumsum(),
    "cumsum of one": lambda df: df.assign(**{number(df): df[number(df)].cumsum()}),
    "rank": lambda df: df[numbers(df)].rank(),
    "rolling": lambda df: df.assign(**floats(df).rolling(2, min_periods=1).mean()),
    "expanding": lambda df: df.assign(**floats(df).expanding().mean()),
    "normalise": lambda df: df.assign(**(floats(df) / floats(df).max())),
    "z-scores": lambda df: (floats(df) - floats(df).mean()) / floats(df).std(),
    "apply": lambda df: df[numbers(df)].apply(lambda each: each + 1),
    "map": lambda df: df[[number(df)]].map(lambda cell: 3),
    "a ufunc": lambda df: np.sqrt(floats(df).abs()),
    "comparison": lambda df: df[numbers(df)] > 1,
    "isna": lambda df: df.isna(),
    "groupby.transform": lambda df: df.assign(
        **{number(df): df.groupby(text(df), observed=True)[number(df)].transform("sum")}
    ),
    "groupby.cumsum": lambda df: df.assign(
        **{number(df): df.groupby(last_text(df), observed=True)[number(df)].cumsum()}
    ),
    "groupby.shift": lambda df: df.assign(
        **{number(df): df.groupby(text(df), observed=True)[number(df)].shift()}
    ),
    "groupby.rank": lambda df: df.groupby(text(df), observed=True)[numbers(df)].rank(),
    "groupby.ffill": lambda df: df.assign(
        **{name: df.groupby(text(df), observed=True)[name].ffill() for name in numbers(df)}
    ),
    "reindex": lambda df: df.reindex([*df.index[:2], 100_000]),
    "reindex filled": lambda df: df[numbers(df)].reindex([*df.index[:2], 100_000], fill_value=0),
}
"""Lines after which a row is still known by its label."""

RENEWING: dict[str, Idiom] = {
    "number the rows anew": lambda df: df.reset_index(drop=True),
    "cut, then number anew": lambda df: df.iloc[1:].reset_index(drop=True),
    "sort, then number anew": lambda df: df.sort_values(number(df), ignore_index=True),
    "sort numbers, then number anew": lambda df: df[numbers(df)].sort_values(
        number(df), ignore_index=True
    ),
    "mask numbers, then number anew": lambda df: df[df[number(df)] > 0][numbers(df)].reset_index(
        drop=True
    ),
    "set_index": lambda df: df.set_index(key(df)),
    "set_index of text": lambda df: df.set_index(text(df)),
    "set_index and back": lambda df: df.set_index(key(df)).reset_index(),
    "set_index, sort, back": lambda df: df.set_index(key(df)).sort_index().reset_index(),
    "index of names, fill": lambda df: df.set_index(key(df)).fillna(
        dict.fromkeys(df.select_dtypes("number"), 0)
    ),
    "fill, then number anew": lambda df: (
        df.fillna(dict.fromkeys(df.select_dtypes("number"), 0)).iloc[1:].reset_index(drop=True)
    ),
    "append": lambda df: pd.concat([df, df.head(2)], ignore_index=True),
    "append a row of one's own": lambda df: pd.concat(
        [df, df.head(1).assign(**{number(df): 999})], ignore_index=True
    ),
    "stack on itself": lambda df: pd.concat([df, df]),
    "concat with keys": lambda df: pd.concat({"a": df.head(2), "b": df.tail(2)}),
    "concat with a plain frame": lambda df: pd.concat([df, plain(df)], ignore_index=True),
    "merge with itself": lambda df: df.merge(df[[*key(df), number(df)]], on=key(df)),
    "merge with itself on text": lambda df: df.merge(df[[text(df), number(df)]], on=text(df)),
    "merge with a plain frame": lambda df: df.merge(plain(df), on=text(df)),
    "left merge": lambda df: df.merge(plain(df), on=text(df), how="left"),
    "outer merge": lambda df: df.merge(plain(df), on=text(df), how="outer"),
    "cross merge": lambda df: df.head(2).merge(pd.DataFrame({"x": [1, 2]}), how="cross"),
    "merge with the sum": lambda df: df.merge(
        df.groupby(text(df), observed=True, as_index=False)[number(df)].sum(), on=text(df)
    ),
    "merge of the sum alone": lambda df: df[[text(df)]].merge(
        df.groupby(text(df), observed=True, as_index=False)[number(df)].sum(), on=text(df)
    ),
    "explode": lambda df: df.assign(tag=[["a", "b"]] * len(df)).explode("tag", ignore_index=True),
    "melt": lambda df: df.melt(key(df), numbers(df)),
    "melt to a name": lambda df: df.melt(key(df), numbers(df), value_name="value"),
    "pivot": lambda df: df.assign(rest=1).pivot_table(
        number(df), text(df), "rest", "sum", observed=True
    ),
    "pivot_table": lambda df: df.pivot_table(numbers(df), text(df), aggfunc="sum", observed=True),
    "pivot_table of means": lambda df: df.pivot_table(
        numbers(df), text(df), observed=True
    ).reset_index(),
    "stack": lambda df: df[numbers(df)].stack().to_frame(number(df)),
    "transpose": lambda df: df[numbers(df)].T,
    "groupby.sum": lambda df: df.groupby(text(df), observed=True)[numbers(df)].sum(),
    "groupby.sum, reset": lambda df: (
        df.groupby(text(df), observed=True)[numbers(df)].sum().reset_index()
    ),
    "groupby.sum, no index": lambda df: df.groupby(text(df), observed=True, as_index=False)[
        numbers(df)
    ].sum(),
    "groupby.sum by key": lambda df: df.groupby(key(df), observed=True, as_index=False)[
        numbers(df)
    ].sum(),
    "groupby.sum of all levels": lambda df: (
        df.astype({text(df): "category"})
        .groupby(text(df), observed=False, as_index=False)[numbers(df)]
        .sum()
    ),
    "groupby.sum of all": lambda df: df.groupby(last_text(df), observed=True).sum(
        numeric_only=True
    ),
    "groupby.mean": lambda df: df.groupby(text(df), observed=True)[numbers(df)].mean(),
    "groupby.mean of a part": lambda df: df.groupby(key(df)[-1], observed=True, as_index=False)[
        numbers(df)
    ].mean(),
    "groupby.max": lambda df: df.groupby(last_text(df), observed=True, as_index=False)[
        numbers(df)
    ].max(),
    "groupby.first": lambda df: df.groupby(last_text(df), observed=True, as_index=False).first(),
    "groupby.last": lambda df: df.groupby(text(df), observed=True).last(),
    "groupby.agg": lambda df: df.groupby(text(df), observed=True).agg({number(df): "sum"}),
    "groupby.agg named": lambda df: df.groupby(text(df), observed=True, as_index=False).agg(
        **{number(df): (number(df), "sum"), "rows": (number(df), "size")}
    ),
    "groupby.size": lambda df: (
        df.groupby(text(df), observed=True).size().reset_index(name=number(df))
    ),
    "groupby.count": lambda df: df.groupby(text(df), observed=True, as_index=False).count(),
    "groupby.nunique": lambda df: df.groupby(text(df), observed=True)[numbers(df)].nunique(),
    "groupby.apply": lambda df: df.groupby(text(df), observed=True)[numbers(df)].apply(
        lambda each: each.sum()
    ),
    "groupby.quantile": lambda df: df.groupby(text(df), observed=True)[[number(df)]].quantile(0.5),
    "sum": lambda df: df[numbers(df)].sum().to_frame().T,
    "mean": lambda df: floats(df).mean().to_frame().T,
    "agg": lambda df: floats(df).agg(["sum", "mean", "max"]),
    "describe": lambda df: floats(df).describe(),
    "quantile": lambda df: floats(df).quantile([0.25, 0.75]),
    "corr": lambda df: floats(df).corr(),
    "mode": lambda df: df[numbers(df)].mode(),
    "value_counts": lambda df: df[text(df)].value_counts().reset_index(),
    "value_counts under a name": lambda df: (
        df[text(df)].value_counts().rename(number(df)).reset_index()
    ),
    "crosstab": lambda df: pd.crosstab(df[text(df)], df[last_text(df)]),
    "a total below": lambda df: pd.concat([df, df[numbers(df)].sum().to_frame().T]),
    "a total below, numbered": lambda df: pd.concat(
        [df, df[numbers(df)].sum().to_frame().T], ignore_index=True
    ),
    "loc a total": lambda df: changed(
        df[numbers(df)], lambda each: each.loc.__setitem__("total", floats(df).sum())
    ),
    "the constructor": lambda df: pd.DataFrame(df),
    "from a dict": lambda df: pd.DataFrame(df.to_dict("list")),
    "from records": lambda df: pd.DataFrame.from_records(df.to_records(index=False)),
    "from arrays, attrs kept": lambda df: changed(
        pd.DataFrame({name: df[name].array for name in df}),
        lambda each: each.attrs.update(df.attrs),
    ),
    "numbers of others, attrs kept": lambda df: changed(
        df.assign(**{name: df[name].to_numpy()[::-1] for name in numbers(df)}),
        lambda each: each.attrs.update(df.attrs),
    ),
    "CSV": lambda df: through(df, "to_csv", pd.read_csv),
    "JSON": lambda df: through(df[[text(df), *numbers(df)]], "to_json", pd.read_json),
}
"""Lines after which rows have other labels, or are other rows."""

IDIOMS = {**KEEPING, **RENEWING}
