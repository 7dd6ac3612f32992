"""Reports: one page of HTML about a dataset, for readers who know neither Python nor JSON.

The page of a `Dataset` opens with a summary in sentences. The sections follow in a fixed order, and
each number links to an explanation of where it comes from. Texts from answers are always escaped,
and control and bidirectional characters in them are made visible. There is no script, no link to
another page and no external resource; the page's content security policy forbids them. In reading
order:

- ``page``: the page as a whole; its summary says what changed, and what could not be tested.
- ``words``: the order and titles of the sections; names and values in words.
- ``html``: elements, tables and pictures; ``style``: the style sheet.
- ``evidence``: the explanations of numbers, which numbers link to.
"""
