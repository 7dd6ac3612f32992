"""What people look at: pictures, reports, pickers, and notes in a notebook.

``plot`` draws a frame, ``report`` writes a dataset as a page of HTML, ``widgets`` are the pickers,
``ipython`` is ``%load_ext aatoolkit``.
"""
