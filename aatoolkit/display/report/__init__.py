"""Reports: one page of HTML about a dataset, for readers who know neither Python nor JSON.

A `Dataset` comes in, HTML goes out. The page opens with a summary in sentences, tells the sections
in reading order, and each number leads to where it comes from. Text from an answer is always
escaped, with control and bidirectional characters made visible. There is no script, no link to
elsewhere and no external resource, and the page's content security policy forbids them. In
reading order:

- ``page``: the page as a whole, with what changed and what cannot be said.
- ``words``: the order of the sections, their titles, names and values in words.
- ``html``: elements, tables and pictures; ``style``: the style sheet.
- ``evidence``: the evidence of each number, row by row, each response read once.
"""
