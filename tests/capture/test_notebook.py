"""A notebook executed by a real kernel: lines per write, magics, answers, and their pictures in a browser."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from playwright.sync_api import Page, sync_playwright

from tests.page.browser_helpers import save_screenshot

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore")]

HOSTILE = "<script>alert(1)</script>\"\\'&"
CELLS = (
    "from tests.sessions import session\n"
    "import colline, pathlib\n"
    "spark = session(pathlib.Path.cwd())\n"
    "watch = colline.attach(spark)",
    "spark.sql(\"create table orders as select id, id * 2 as amount, 'north' as region from range(5)\")\n"
    "spark.sql(\"create table customers as select id, concat('mail', id) as email from range(5)\")\n"
    'spark.sql("""create table revenue as select region, sum(amount) as total, max(sha2(email, 256)) as contact\n'
    '    from orders join customers using (id) where amount > 1 group by region""")\n'
    'spark.sql("create table report as select r.total, o.region from revenue r join orders o using (region)")\n'
    "assert watch.flush()",
    'df = spark.table("orders").groupBy("region").sum("amount").toDF("region", "total")\ndf',
    "%load_ext colline\n%lineage df",
    "%%lineage\nselect region, total * 2 as twice from revenue where total > 3",
    "%lineage",
    "%%lineage\nselect nothing from revenue",
    'watch.lineage().upstream("report.total", indirect=True)',
    'watch.lineage().pii("customers.email")',
    'watch.lineage().downstream("orders.amount", grain="table")',
    f"spark.range(2).toDF({HOSTILE!r}).write.saveAsTable('hostile')\ncolline.lineage(spark.table('hostile'))",
    "watch.lineage().find('script')",
    "watch.detach()",
)


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("notebook")
    root = Path(__file__).parents[2]
    setup = nbformat.v4.new_code_cell(f"import sys; sys.path.insert(0, {str(root)!r})")
    cells = [setup, *map(nbformat.v4.new_code_cell, CELLS)]
    notebook_node = nbformat.v4.new_notebook(
        cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python"}}
    )
    client = NotebookClient(
        notebook_node, timeout=300, allow_errors=True, resources={"metadata": {"path": str(folder)}}
    )
    client.execute()
    return notebook_node


def _outputs(notebook: Any, number: int) -> list[Any]:
    return list(notebook.cells[number + 1].outputs)


def _html(notebook: Any, number: int) -> str:
    [found] = [each.data["text/html"] for each in _outputs(notebook, number) if "data" in each]
    return str(found)


def test_each_write_prints_a_line_below_the_cell(notebook: Any) -> None:
    printed = "".join(each.text for each in _outputs(notebook, 1) if each.output_type == "stream")
    lines = [line for line in re.split(r"[\r\n]", printed) if line.strip().startswith("captured")]
    assert [line.strip() for line in lines] == [
        "captured orders · 3 columns",
        "captured customers · 2 columns",
        "captured revenue ← orders, customers · 3 columns",
        "captured report ← revenue, orders · 2 columns",
    ]


def test_magics_show_the_lineage_of_a_dataframe_and_of_sql(notebook: Any) -> None:
    assert "orders.amount" in _html(notebook, 3) and "direct/aggregation" in _html(notebook, 3)
    assert "revenue.total" in _html(notebook, 4) and "twice" in _html(notebook, 4)


def test_magic_without_a_query_and_with_wrong_sql_prints_one_line(notebook: Any) -> None:
    usage, wrong = ("".join(str(each) for each in _outputs(notebook, number)) for number in (5, 6))
    assert "write `%lineage df`" in usage and "Traceback" not in usage
    assert "nothing" in wrong and "stacktrace" not in wrong and "at org.apache" not in wrong


@pytest.mark.parametrize("number", [3, 4, 7, 8, 9, 10])
def test_pictures_are_wellformed_and_load_nothing(notebook: Any, number: int) -> None:
    html = _html(notebook, number)
    assert not re.search(r"<script|<style|(src|href)=|url\(|https?://(?!www\.w3\.org/2000/svg)", html)
    drawing = ET.fromstring(html[html.index("<svg") : html.index("</svg>") + 6])
    assert len(drawing.findall("{*}g")) >= 2
    assert len(drawing.findall("{*}path")) >= 1


def test_tables_downstream_start_at_the_table_of_the_question(notebook: Any) -> None:
    html = _html(notebook, 9)
    assert re.findall('font-weight="600">([^<]*)</text>', html) == [
        "default.revenue",
        "default.report",
        "default.orders",
    ]


def test_hostile_name_is_text(notebook: Any) -> None:
    for number in (10, 11):
        html = _html(notebook, number)
        assert "&lt;script&gt;" in html and "<script" not in html


@pytest.fixture(scope="module")
def page(browser_program: Path) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(browser_program), args=["--headless", "--no-sandbox"])
        opened = browser.new_page(viewport={"width": 1280, "height": 3400})
        opened.route(re.compile("^https?://"), lambda route: route.abort())  # nbconvert's own MathJax
        yield opened
        browser.close()


CONTRAST = """() => {
  const rgb = text => text.match(/[\\d.]+/g).map(Number)
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0)
  const behind = node => {
    for (; node; node = node.parentElement) {
      const color = rgb(getComputedStyle(node).backgroundColor)
      if (color.length < 4 || color[3] > 0) return color
    }
    return [255, 255, 255]
  }
  return [...document.querySelectorAll('.jp-OutputArea-output svg text')].map(text => {
    const [one, two] = [light(rgb(getComputedStyle(text).fill)), light(behind(text))].sort((a, b) => b - a)
    return (one + 0.05) / (two + 0.05)
  })
}"""


@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pictures_are_readable_in_light_and_dark_notebooks(
    notebook: Any, page: Page, tmp_path: Path, theme: str
) -> None:
    html, _ = HTMLExporter(template_name="lab", theme=theme).from_notebook_node(notebook)
    file = tmp_path / "notebook.html"
    file.write_text(html)
    page.goto(file.as_uri())
    pictures = page.locator(".jp-OutputArea-output svg[aria-label='column lineage']")
    assert pictures.count() == 6
    for number in range(pictures.count()):
        box = pictures.nth(number).bounding_box()
        assert box is not None and box["width"] > 200 and box["height"] > 40
    contrasts = page.evaluate(CONTRAST)
    assert len(contrasts) > 30 and min(contrasts) >= 7
    save_screenshot(page, f"notebook-{theme}")
