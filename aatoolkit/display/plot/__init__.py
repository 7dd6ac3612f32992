"""Pictures: a good one for each table, chosen from what its columns are declared to be.

A picture is chosen in three steps that know nothing of sections: what the columns are
(`roles`), the first kind of picture that fits them (the modules of the kinds, in this order),
and drawing it. What was not measured is hatched, or breaks the line; it is never drawn at 0.
"""
