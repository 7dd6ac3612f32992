"""Everything that is shown: pictures, HTML reports and pickers.

- ``plot/``: a DataFrame in, a matplotlib picture out (``df.aa.plot``).
- ``report/``: a `Dataset` in, one page of HTML out (``dataset.report``).
- ``widgets/``: pickers, i.e. widgets in which filters and sections are chosen in Jupyter.
"""
