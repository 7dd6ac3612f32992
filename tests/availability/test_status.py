"""How statuses combine: the whole truth table, and the laws it obeys."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from aatoolkit import Availability, Cause, Status
from aatoolkit.availability import UNKNOWN, combine, join

A, P, U, N, K = (
    Status.AVAILABLE,
    Status.PARTIAL,
    Status.UNAVAILABLE,
    Status.NOT_APPLICABLE,
    Status.UNKNOWN,
)

TRUTH = {
    A: {A: A, P: P, U: P, N: A, K: K},
    P: {A: P, P: P, U: P, N: P, K: K},
    U: {A: P, P: P, U: U, N: U, K: K},
    N: {A: A, P: P, U: U, N: N, K: K},
    K: {A: K, P: K, U: K, N: K, K: K},
}

statuses = st.sampled_from(list(Status))
parts = st.lists(
    st.builds(
        Availability,
        statuses,
        st.none() | st.sampled_from(list(Cause)),
        st.none() | st.sampled_from(["one", "two", ""]),
    ),
    max_size=5,
)


@pytest.mark.parametrize("first", Status)
@pytest.mark.parametrize("second", Status)
def test_the_join_is_its_truth_table(first: Status, second: Status) -> None:
    assert join(first, second) is TRUTH[first][second]


@given(statuses, statuses, statuses)
def test_the_join_is_commutative_associative_and_idempotent(
    a: Status, b: Status, c: Status
) -> None:
    assert join(a, b) == join(b, a)
    assert join(join(a, b), c) == join(a, join(b, c))
    assert join(a, a) == a
    assert join(a, Status.NOT_APPLICABLE) == a


@given(parts)
def test_order_never_matters_to_status_and_cause(statements: list[Availability]) -> None:
    there, back = combine(statements), combine(reversed(statements))
    assert (there.status, there.cause) == (back.status, back.cause)
    assert set((there.reason or "").split("; ")) == set((back.reason or "").split("; "))


reasons = st.lists(st.sampled_from([None, "One", "One.", "Two.; One.", "...", "a; b."]), max_size=4)


@given(reasons, reasons)
def test_reasons_are_joined_alike_in_steps_and_without_doubled_punctuation(
    some: list[str | None], others: list[str | None]
) -> None:
    first, second = (
        [Availability(Status.UNAVAILABLE, None, reason) for reason in texts]
        for texts in (some, others)
    )
    combined = combine([*first, *second])
    steps = combine([combine(first), combine(second), combined])
    assert set((steps.reason or "").split("; ")) == set((combined.reason or "").split("; "))
    assert combine([combined, combined]) == combined
    if len({*some, *others} - {None}) > 1:
        assert not re.search(r"\w\.(?=; |$)", combined.reason or "")


@given(parts)
def test_combining_claims_no_more_than_its_parts(statements: list[Availability]) -> None:
    combined = combine(statements)
    statuses = {part.status for part in statements} - {Status.NOT_APPLICABLE}
    assert (combined.status == Status.AVAILABLE) == (statuses == {Status.AVAILABLE})
    assert combined.cause is None or combined.cause in {part.cause for part in statements}


def test_a_single_part_stays_what_it_is() -> None:
    part = Availability(Status.UNAVAILABLE, Cause.NOT_RUN, "No run.")
    assert combine([part]) == part
    assert combine([part, part]) == part


def test_nothing_combined_is_the_identity() -> None:
    assert combine([]) == Availability(Status.NOT_APPLICABLE)


def test_the_cause_stays_where_the_parts_that_lack_something_agree() -> None:
    lacking = Availability(Status.UNAVAILABLE, Cause.NOT_CONNECTED, "No CNAME.")
    other = Availability(Status.PARTIAL, Cause.NOT_CONNECTED, "No DCV.")
    fine = Availability(Status.AVAILABLE, None, "All is well.")
    assert combine([fine, lacking, other, lacking]) == Availability(
        Status.PARTIAL, Cause.NOT_CONNECTED, "No CNAME; No DCV"
    )
    pending = Availability(Status.UNAVAILABLE, Cause.PENDING)
    assert combine([lacking, pending]).cause is None


def test_what_does_not_apply_is_no_statement_beside_what_does() -> None:
    beside = Availability(Status.NOT_APPLICABLE, Cause.NOT_SUPPORTED, "Not of this engine.")
    assert combine([Availability(Status.AVAILABLE), beside]) == Availability(Status.AVAILABLE)
    assert combine([beside, beside]) == beside


def test_unknown_is_the_default_and_swallows() -> None:
    assert Availability() == UNKNOWN
    assert combine([Availability(Status.AVAILABLE), UNKNOWN]).status == Status.UNKNOWN


def test_in_words() -> None:
    assert str(Availability(Status.NOT_APPLICABLE)) == "not applicable"
    assert (
        str(Availability(Status.UNAVAILABLE, Cause.INSUFFICIENT_SAMPLE, "6 of 10."))
        == "unavailable (insufficient sample): 6 of 10."
    )
