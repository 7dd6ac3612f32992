"""Reports: one page of HTML about a dataset, for readers who know neither Python nor JSON.

The page of a `Dataset` begins with a summary in sentences. The sections follow in a fixed order.
Each number links to an explanation of where it comes from.

Texts from AI answers are always escaped, and their control characters are made visible. The page
has no scripts and no external resources; its content security policy forbids both.

The modules, in reading order:

- ``page``: the page as a whole; its summary says what changed, and what could not be tested.
- ``words``: the order and titles of the sections; names and values in words.
- ``html``: elements, tables and pictures; ``style``: the style sheet.
- ``evidence``: the explanations that numbers link to.
"""
