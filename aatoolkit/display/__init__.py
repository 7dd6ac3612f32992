"""Everything that is shown: pictures, HTML reports and pickers.

- ``plot/``: a DataFrame in, a matplotlib picture out (``df.aa.plot``).
- ``report/``: a `Dataset` in, one page of HTML out (``dataset.report``).
- ``widgets/``: the pickers, i.e. widgets to choose filters and sections in Jupyter.
"""
