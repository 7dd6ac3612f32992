"""The browser tests notice what leaves the machine, and what a page complains of."""

from __future__ import annotations

from typing import Any

HOLES = """
<img src="https://pictures.example/pixel.png">
<link rel="stylesheet" href="http://styles.example/a.css">
<script>
  window.done = fetch("https://data.example/x").catch(() => "refused");
  console.error("a complaint");
  window.onerror = () => { window.failed = true; };
  setTimeout(() => { throw new Error("a failure"); });
</script>
"""


def test_what_leaves_the_machine_is_refused_and_counted(page: Any, seen: Any) -> None:
    page.set_content(HOLES)
    assert page.evaluate("window.done") == "refused"
    page.wait_for_function("window.failed")
    assert sorted(seen.outside) == [
        "http://styles.example/a.css",
        "https://data.example/x",
        "https://pictures.example/pixel.png",
    ]
    assert any("a complaint" in error for error in seen.errors)
    assert any("a failure" in error for error in seen.errors)
    seen.outside.clear()
    seen.errors.clear()


def test_a_page_of_this_machine_is_let_through(page: Any, tmp_path: Any) -> None:
    path = tmp_path / "page.html"
    path.write_text("<h1>Here</h1>", encoding="utf-8")
    page.goto(path.as_uri())
    assert page.get_by_role("heading", name="Here").is_visible()
