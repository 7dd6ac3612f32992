"""`Scope`, the filters of a request, and `ScopeOptions`, the values that they may have."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import parse_qs, urlencode

from aatoolkit._util.attributes import NameSuggestionMixin
from aatoolkit._util.text import Names, clipped, counted, print_wrapped, visible
from aatoolkit.errors import ScopeError, find_near_matches, suggest_names, unknown, warn

if TYPE_CHECKING:
    import pandas as pd

ALLOWED_DAYS = (7, 30, 90)
"""The numbers of days that a request may cover, by the documentation of the API."""

FILTERS = {"engine": "engines", "topic": "topics", "category": "categories", "brand": "brands"}
"""The filters, each with the attribute of `ScopeOptions` that lists its values."""

UNTAGGED_LABEL = "(none)"
"""The label of the row that counts the prompts without a topic or category."""

_UNCHECKED_FILTER_NOTE = (
    "could not be checked: no list of such values was recognised in the scope options; "
    "aa.profile.draft(project) looks for one, and a profile may name it: sections.scope_options"
)
"""The end of the warning about a filter whose valid values are not known."""


@dataclass(frozen=True, init=False)
class Scope(NameSuggestionMixin):
    """The number of days that a request covers, and its filters; immutable.

    Parameters
    ----------
    days : {30, 7, 90}
        How many days the data cover, up to now.
    engine, topic, category, brand : str or iterable of str, optional
        The values to include, such as ``"chatgpt"`` or ``["chatgpt", "gemini"]``; by default all.

    Raises
    ------
    ScopeError
        If ``days`` is not 7, 30 or 90, there is no such filter, or a value is empty or has a comma.

    Examples
    --------
    >>> Scope(days=7, engine=["gemini", "chatgpt", "gemini"])
    Scope(days=7, engine=('chatgpt', 'gemini'))
    >>> Scope(brand="Acme CRM").brand, Scope().days
    (('Acme CRM',), 30)
    """

    days: int = 30
    engine: tuple[str, ...] = ()
    topic: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    brand: tuple[str, ...] = ()

    def __new__(cls, *_: Any, **filters: Any) -> Self:
        """Create a scope; raise `ScopeError` if a keyword is not the name of a filter."""
        for name in filters:
            if name != "days" and name not in FILTERS:
                raise _make_filter_error(name)
        return super().__new__(cls)

    def __init__(
        self,
        days: int = 30,
        engine: Names | None = (),
        topic: Names | None = (),
        category: Names | None = (),
        brand: Names | None = (),
    ) -> None:
        if isinstance(days, bool) or days not in ALLOWED_DAYS:
            raise ScopeError(
                f"days={days!r} is not a window of the API; choose 7, 30 or 90 as a number",
                parameter="days",
                unknown=(str(days),),
                suggestions=tuple(map(str, ALLOWED_DAYS)),
            )
        object.__setattr__(self, "days", int(days))
        for name, filter_values in zip(FILTERS, (engine, topic, category, brand), strict=True):
            object.__setattr__(self, name, _validate_filter_values(name, filter_values))

    def __repr__(self) -> str:
        argument_texts = [f"days={self.days}"]
        argument_texts += [f"{name}={value!r}" for name, value in self._filters.items()]
        return f"Scope({', '.join(argument_texts)})"

    @property
    def _filters(self) -> dict[str, tuple[str, ...]]:
        """A dict from the name of each filter in use to its values.

        Examples
        --------
        >>> Scope(topic="CRM")._filters
        {'topic': ('CRM',)}
        """
        return {name: getattr(self, name) for name in FILTERS if getattr(self, name)}

    def _replace(self, **changes: Any) -> Scope:
        """Return a copy of the scope in which ``changes`` replace filters or the number of days.

        Examples
        --------
        >>> Scope(engine="chatgpt")._replace(days=7)
        Scope(days=7, engine=('chatgpt',))
        """
        return Scope(**{"days": self.days, **self._filters, **changes})

    def _to_params(self) -> dict[str, str]:
        """Return the scope as a dict of the query parameters of a URL.

        Examples
        --------
        >>> Scope(engine=("gemini", "chatgpt"))._to_params()
        {'days': '30', 'engine': 'chatgpt,gemini'}
        """
        return {
            "days": str(self.days),
            **{name: ",".join(values) for name, values in self._filters.items()},
        }

    def _to_query(self) -> str:
        """Return the scope as the query string of a URL, such as ``days=7&engine=gemini``."""
        return urlencode(self._to_params())

    @classmethod
    def _from_query(cls, query: str) -> Scope:
        """Create a scope from the query string of a URL, such as ``days=7&engine=gemini``.

        A query that is not valid raises `ScopeError`.
        """
        try:
            parameters = parse_qs(query.lstrip("?"), keep_blank_values=True, errors="strict")
        except UnicodeDecodeError:
            raise ScopeError(
                "the query is not in UTF-8; write its values percent-encoded so"
            ) from None
        argument_by_name: dict[str, Any] = {}
        for parameter_name, (value_text, *repeated_texts) in parameters.items():
            if repeated_texts:
                raise ScopeError(
                    f"{parameter_name} is given twice; separate its values by commas",
                    parameter=parameter_name,
                )
            if parameter_name == "days":
                if not (value_text.isascii() and value_text.isdigit()):
                    raise ScopeError(
                        f"days={value_text!r} is not a whole number; choose 7, 30 or 90",
                        parameter="days",
                    )
                argument_by_name[parameter_name] = int(value_text)
            else:
                argument_by_name[parameter_name] = tuple(
                    value for value in value_text.split(",") if value
                )
        return cls(**argument_by_name)

    def _check(self, options: ScopeOptions) -> Scope:
        """Return this scope; raise `ScopeError` if a filter has a value that is not allowed.

        ``options`` has the allowed values. If it does not list those of a filter, a warning is
        issued instead.
        """
        for filter_name, filter_values in self._filters.items():
            if filter_name in options.unknown:
                warn(f"{filter_name} {filter_values!r} {_UNCHECKED_FILTER_NOTE}")
                continue
            allowed_values = dict.fromkeys(options.values(filter_name))
            invalid_values = tuple(value for value in filter_values if value not in allowed_values)
            if invalid_values:
                near_matches = (
                    match
                    for value in invalid_values
                    for match in find_near_matches(value, allowed_values)
                )
                suggestions = tuple(dict.fromkeys(near_matches))
                hint = suggest_names(suggestions, clipped(f"there are {', '.join(allowed_values)}"))
                raise ScopeError(
                    f"unknown {filter_name} {', '.join(map(repr, invalid_values))}; {hint}",
                    parameter=filter_name,
                    unknown=invalid_values,
                    suggestions=suggestions,
                )
        if self.days not in options.days:
            raise ScopeError(
                f"days={self.days} is no window of this project; choose "
                f"{', '.join(map(str, options.days))}",
                parameter="days",
                unknown=(str(self.days),),
                suggestions=tuple(map(str, options.days)),
            )
        return self


class ScopeOptions(NameSuggestionMixin):
    """The values that each filter of a project may have, such as its engines and topics.

    Parameters
    ----------
    host : str
        The project's domain.
    own_terms : tuple of str
        The names by which answers mention the project's own brand, such as ``("Acme CRM",)``.
    days : tuple of int
        The numbers of days that a request may cover, such as ``(7, 30, 90)``.
    unknown : collection of str
        The filters, such as ``"brand"``, whose values the service does not list.
    engines, topics, categories, brands : pandas.DataFrame
        One row per value of the filter. The value is in the column ``engine``, ``topic``,
        ``category`` or ``brand``.

    Attributes
    ----------
    untagged : dict of str to int or None
        The number of prompts without a topic and without a category; None if it is not known.
    """

    engines: pd.DataFrame
    topics: pd.DataFrame
    categories: pd.DataFrame
    brands: pd.DataFrame

    def __init__(
        self,
        host: str,
        *,
        own_terms: Iterable[str],
        days: Iterable[int],
        unknown: Collection[str] = (),
        **tables: pd.DataFrame,
    ) -> None:
        self.host = host
        self.untagged: dict[str, int | None] = {}
        for filter_name, table_attribute in FILTERS.items():
            setattr(
                self, table_attribute, self._drop_untagged_row(tables[table_attribute], filter_name)
            )
        self.own_terms: tuple[str, ...] = tuple(own_terms)
        self.days: tuple[int, ...] = tuple(days)
        self.unknown: tuple[str, ...] = tuple(unknown)
        self.has_runs = True
        """Whether the response says when engines ran."""

    def _drop_untagged_row(self, frame: pd.DataFrame, filter_name: str) -> pd.DataFrame:
        """Return a table of a filter's values, such as topics, without the row ``(none)``.

        The row ``(none)`` counts the prompts without a topic or category. Its count is stored in
        `untagged`.
        """
        if filter_name not in frame:
            return frame
        is_untagged = frame[filter_name].eq(UNTAGGED_LABEL).fillna(False).to_numpy(bool)
        if not is_untagged.any():
            return frame
        prompt_counts = (
            frame["prompt_count"][is_untagged].dropna().tolist() if "prompt_count" in frame else []
        )
        self.untagged[filter_name] = int(prompt_counts[0]) if prompt_counts else None
        return frame[~is_untagged]

    def values(self, filter: str) -> tuple[str, ...]:
        """Return the values that a filter may have, in the order of the service.

        Parameters
        ----------
        filter : {"engine", "topic", "category", "brand"}
            The name of the filter.

        Returns
        -------
        tuple of str
            The values, such as ``("chatgpt", "gemini")``.

        Raises
        ------
        ScopeError
            If there is no such filter.
        """
        if filter not in FILTERS:
            raise _make_filter_error(str(filter))
        frame = getattr(self, FILTERS[filter])
        return tuple(frame[filter].dropna().tolist())

    def __repr__(self) -> str:
        size_texts = [
            f"{'unknown' if name in self.unknown else len(self.values(name))} {plural_name}"
            for name, plural_name in FILTERS.items()
        ]
        engines = self.engines
        if engines.filter(["configured", "last_run_day"]).notna().any(axis=None):
            engine_count = (
                int(engines["last_run_day"].notna().sum()) if "last_run_day" in engines else 0
            )
            size_texts[0] += f" ({engine_count} have run)"
        return (
            f"<ScopeOptions of {visible(self.host)}: {', '.join(size_texts)}, "
            f"{counted(len(self.own_terms), 'term')} for the own brand, "
            f"days {', '.join(map(str, self.days))}>"
        )

    _repr_pretty_ = print_wrapped


def _validate_filter_values(filter_name: str, argument: Names | None) -> tuple[str, ...]:
    """Return the values of a filter as a sorted tuple without duplicates.

    A value that is not a string, is empty or has a comma raises `ScopeError`. ``argument`` is one
    value, several values, or None for no value.
    """
    is_single_value = isinstance(argument, str) or not isinstance(argument, Iterable)
    filter_values = [] if argument is None else [argument] if is_single_value else [*argument]
    for filter_value in filter_values:
        problem_text = ""
        if not isinstance(filter_value, str):
            problem_text = "is not text; give values as strings"
        elif not filter_value.strip():
            problem_text = "is empty; leave it out"
        elif "," in filter_value:
            problem_text = (
                "holds a comma, by which the API separates values; give each value by itself, and "
                "select what holds a comma in the table"
            )
        if problem_text:
            raise ScopeError(
                f"{filter_name}={filter_value!r} {problem_text}",
                parameter=filter_name,
                unknown=(str(filter_value),),
            )
    return tuple(sorted({*filter_values}))


def _make_filter_error(filter_name: str) -> ScopeError:
    """Return the `ScopeError` for a filter that does not exist; it lists similar names."""
    filter_names = ("days", *FILTERS)
    return ScopeError(
        unknown("filter", filter_name, filter_names),
        parameter=filter_name,
        unknown=(filter_name,),
        suggestions=find_near_matches(filter_name, filter_names),
    )
