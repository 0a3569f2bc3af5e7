"""Reports in a real browser: they render, fetch nothing, and their controls work."""

import shutil

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from sparseksc import KernelSpectralClustering
from sparseksc.datasets import make_spirals
from sparseksc.report import write_report

for needed in ("bokeh", "jinja2", "matplotlib"):
    pytest.importorskip(needed)
playwright = pytest.importorskip("playwright.sync_api")

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium on the path")

LIVE = "html[data-live=yes]"
COLOURS = "Bokeh.documents[0].get_model_by_name('points').data"


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        try:
            chromium = started.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        except playwright.Error as error:
            pytest.skip(f"Chromium does not start here: {error.message[:200]}")
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def reports(tmp_path_factory, nested):
    """Addresses of reports: spirals, wines, a tree of clusters, names that attack the page."""
    folder = tmp_path_factory.mktemp("reports")
    X, _ = make_spirals(3000, random_state=0)
    spirals = KernelSpectralClustering(2, bandwidth=0.012, random_state=0).fit(X)
    write_report(spirals, X, folder / "spirals.html")
    write_report(*nested, folder / "nested.html")
    wines = load_wine(as_frame=True).data
    model = KernelSpectralClustering(scale=True, random_state=0).fit(wines)
    write_report(model, wines, folder / "wine.html")
    frame = pd.DataFrame(X[:300], columns=["</script><script>alert(1)</script>", "<b>@row</b>"])
    single = KernelSpectralClustering(1, bandwidth=1.0, random_state=0).fit(frame)
    write_report(single, frame, folder / "attack.html", ids=["<img src=x onerror=alert(1)>"] * 300)
    return {path.stem: path.as_uri() for path in folder.glob("*.html")}


@pytest.fixture
def visit(browser, reports):
    """A function that opens a report and collects everything that goes wrong."""
    contexts, troubles = [], []

    def opened(name, *, live=True, **options):
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        page.on(
            "console",
            lambda said: troubles.append(said.text) if said.type in ("error", "warning") else None,
        )
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: (troubles.append(dialog.message), dialog.dismiss()))
        page.on(
            "request",
            lambda request: (
                None
                if request.url.startswith(("file:", "data:", "blob:"))
                else troubles.append(request.url)
            ),
        )
        page.goto(reports[name])
        if live:
            page.wait_for_selector(LIVE, timeout=20_000)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert troubles == []


def shades(page, selector):
    """Number of different colours in the image of an element."""
    return page.evaluate(
        """async (selector) => {
            const seen = new Set();
            const canvases = (root) => [...root.querySelectorAll("*")].flatMap((part) => [
                ...(part.tagName === "CANVAS" ? [part] : []),
                ...(part.shadowRoot ? canvases(part.shadowRoot) : []),
            ]);
            for (const canvas of canvases(document.querySelector(selector))) {
                if (!canvas.width || !canvas.height) continue;
                const {width, height} = canvas;
                const {data} = canvas.getContext("2d").getImageData(0, 0, width, height);
                for (let at = 0; at < data.length; at += 4)
                    if (data[at + 3] > 200) seen.add(data.slice(at, at + 3).join());
            }
            return seen.size;
        }""",
        selector,
    )


def place_of_a_point(page, cluster):
    """Where on the screen the first point of a cluster is, after scrolling there."""
    return page.evaluate(
        """(cluster) => {
            const charts = Bokeh.documents[0];
            const {data} = charts.get_model_by_name("points");
            const view = Bokeh.index.find_one(charts.get_model_by_name("data"));
            const at = data.cluster.indexOf(cluster);
            const x = view.frame.x_scale.compute(data.data_x[at]);
            const y = view.frame.y_scale.compute(data.data_y[at]);
            view.el.scrollIntoView({block: "center"});
            const box = view.canvas_view.el.getBoundingClientRect();
            return [box.x + x, box.y + y];
        }""",
        cluster,
    )


@pytest.mark.parametrize("name, charts", [("spirals", 3), ("wine", 4)])
def test_charts_are_drawn(visit, name, charts):
    page = visit(name)
    drawn = page.locator("figure.ready .live:visible")
    assert drawn.count() == charts
    assert page.locator("figure.ready .static:visible").count() == 0
    for place in range(charts):
        box = drawn.nth(place).bounding_box()
        assert box["width"] > 300 and box["height"] > 200
        assert shades(page, f"#{drawn.nth(place).get_attribute('id')}") > 20


def test_a_cluster_is_highlighted_everywhere(visit):
    page = visit("wine")
    assert set(page.evaluate(f"Array.from({COLOURS}.opacity)")) == {0.75}
    page.check("#pick-1", force=True)
    data = page.evaluate(f"[Array.from({COLOURS}.cluster), Array.from({COLOURS}.opacity)]")
    for cluster, opacity in zip(*data, strict=True):
        assert opacity == (0.75 if cluster == 1 else 0.1)
    assert page.inner_text("#announce") == "Cluster 1 is highlighted."
    page.wait_for_timeout(300)
    faded = "el => Number(getComputedStyle(el).opacity)"
    assert page.locator("tr.cluster-0").first.evaluate(faded) < 0.5
    assert page.locator("tr.cluster-1").first.evaluate(faded) == 1.0


def test_highlighting_by_keyboard_and_by_click(visit):
    page = visit("wine")
    page.focus("#pick-all")
    page.keyboard.press("ArrowRight")
    assert page.is_checked("#pick-0")
    assert page.inner_text("#announce") == "Cluster 0 is highlighted."
    page.click("label:has-text('Cluster 2') >> nth=0")
    assert page.is_checked("#pick-2")
    place = place_of_a_point(page, 0)
    page.mouse.click(*place)
    page.wait_for_timeout(300)
    assert page.is_checked("#pick-0")


def test_pointing_at_a_point_tells_about_it(visit):
    page = visit("wine")
    place = place_of_a_point(page, 1)
    page.mouse.move(*place)
    page.mouse.move(place[0] + 1, place[1])
    tooltip = page.locator(".bk-Tooltip").first
    tooltip.wait_for(timeout=5000)
    text = tooltip.evaluate("part => part.shadowRoot.textContent")
    for word in ("Row", "Cluster: 1", "Membership", "flavanoids"):
        assert word in text


def test_zoom_by_buttons(visit):
    page = visit("spirals")
    ends = "(({x_range: x}) => [x.start, x.end])(Bokeh.documents[0].get_model_by_name('data'))"
    before = page.evaluate(ends)
    buttons = page.locator("#chart-data .zoom button")
    buttons.nth(0).focus()
    page.keyboard.press("Enter")
    closer = page.evaluate(ends)
    assert np.ptp(closer) == pytest.approx(0.6 * np.ptp(before))
    buttons.nth(1).click()
    assert page.evaluate(ends) == pytest.approx(before, rel=1e-3)
    buttons.nth(0).click()
    page.check("#pick-0", force=True)  # does not move the view
    assert np.ptp(page.evaluate(ends)) == pytest.approx(0.6 * np.ptp(before), rel=1e-3)
    buttons.nth(2).click()
    assert page.evaluate(ends) == pytest.approx(before)


def test_the_keyboard_reaches_controls_and_nothing_else(visit):
    page = visit("wine")
    focusable = page.evaluate(
        """() => {
            const parts = (root) => [...root.querySelectorAll("*")].flatMap((part) =>
                [part, ...(part.shadowRoot ? parts(part.shadowRoot) : [])]);
            const inside = parts(document.querySelector("#live-data"));
            return inside.filter((part) => part.tabIndex >= 0).length;
        }"""
    )
    assert focusable == 0
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the result"
    assert page.evaluate("document.activeElement.getBoundingClientRect().x") >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_without_scripts_everything_is_told(visit):
    page = visit("wine", live=False, java_script_enabled=False)
    text = page.inner_text("main")
    for fact in ("Cluster 2", "flavanoids", "Why 3 clusters", "Rows between two clusters"):
        assert fact in text
    assert page.locator(".static .drawing:visible > svg").count() == 5
    assert page.locator(".live:visible").count() == 0
    assert page.locator(".zoom:visible").count() == 0
    page.check("#pick-1", force=True)  # the style sheet alone highlights
    page.wait_for_timeout(300)
    opacity = "part => Number(getComputedStyle(part).opacity)"
    assert (
        page.locator("#chart-data .static .drawing > svg .cluster-0").first.evaluate(opacity) < 0.2
    )
    assert (
        page.locator("#chart-data .static .drawing > svg .cluster-1").first.evaluate(opacity) == 1.0
    )


def test_the_dark_page_is_dark(visit):
    background = "getComputedStyle(document.body).backgroundColor"
    bright = visit("wine")
    dark = visit("wine", color_scheme="dark")
    assert bright.evaluate(background) == "rgb(255, 255, 255)"
    assert dark.evaluate(background) == "rgb(20, 23, 28)"
    label = "Bokeh.documents[0].get_model_by_name('data').below[0].axis_label_text_color"
    assert bright.evaluate(label) != dark.evaluate(label)
    assert bright.evaluate(f"{COLOURS}.colour[0]") != dark.evaluate(f"{COLOURS}.colour[0]")
    wanted = dark.evaluate(f"{COLOURS}.colour[0]")
    bright.emulate_media(color_scheme="dark")
    for _ in range(100):
        if bright.evaluate(f"{COLOURS}.colour[0]") == wanted:
            break
        bright.wait_for_timeout(100)
    assert bright.evaluate(f"{COLOURS}.colour[0]") == wanted


def test_print_has_the_static_charts_on_white(visit):
    page = visit("wine", color_scheme="dark")
    page.emulate_media(media="print")
    assert page.locator(".static .drawing:visible > svg").count() == 5
    assert page.locator(".live:visible").count() == 0
    assert page.locator(".picker:visible, nav:visible").count() == 0
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_a_phone_does_not_scroll_sideways(visit):
    for name in ("wine", "spirals"):
        page = visit(name, viewport={"width": 400, "height": 800}, is_mobile=True, has_touch=True)
        assert page.evaluate("document.documentElement.scrollWidth") <= 400


def test_names_do_not_run(visit):
    page = visit("attack")
    assert page.locator("img").count() == 0
    assert "</script><script>alert(1)</script>" in page.inner_text("main")


def test_a_level_changes_colours_tables_and_counts(visit, nested):
    model, X = nested
    page = visit("nested")
    place_of = {5: "0", 2: "1", 3: "2", 4: "3"}
    tables, colours = set(), []
    for m in (2, 3, 4, 5):
        page.check(f"#level-{place_of[m]}", force=True)
        labels = model.predict(X, n_clusters=m)
        rows = page.locator(".clusters tbody:visible tr")
        counts = [
            int(rows.nth(k).locator("td").first.inner_text().replace(",", ""))
            for k in range(rows.count())
        ]
        assert counts == np.bincount(labels).tolist()
        tables.add(page.inner_text(".clusters"))
        assert page.locator(".chip:visible input[name=pick]").count() == m + 1
        assert f"fall into {m} clusters" in page.inner_text(".summary:visible .answer")
        drawn = page.evaluate(
            f"[{COLOURS}.name, {COLOURS}.colour, {COLOURS}.row].map((c) => Array.from(c))"
        )
        found = {(name, colour) for name, colour in zip(*drawn[:2], strict=True)}
        assert len(found) == m
        numbers = [int(row.replace(",", "")) for row in drawn[2]]
        assert [int(name) for name in drawn[0]] == labels[numbers].tolist()
        bars = page.evaluate("Array.from(Bokeh.documents[0].get_model_by_name('bars').data.count)")
        assert sum(int(count.replace(",", "")) for count in bars) == len(X)
        colours.append(len(set(drawn[1])))
        assert page.locator(".cut:visible").count() == 1
    assert colours == [2, 3, 4, 5] and len(tables) == 4


def test_a_level_is_chosen_by_keyboard_and_in_the_tree(visit):
    page = visit("nested")
    page.focus("#level-0")
    page.keyboard.press("ArrowLeft")
    assert page.is_checked("#level-3")
    assert page.inner_text("#announce") == "All 4 clusters are shown."
    page.focus("#pick-all")
    page.keyboard.press("ArrowRight")
    assert page.is_checked("#pick-4-0")
    assert page.inner_text("#announce") == "Cluster 0 is highlighted."
    cut = float(page.locator(".cut.level-1").get_attribute("style").split(":")[1].rstrip("%"))
    width = page.locator(".branches").bounding_box()["width"]
    page.locator(".branches").click(position={"x": cut / 100 * width, "y": 5})
    assert page.is_checked("#level-1") and page.is_checked("#pick-all")


def test_a_group_is_highlighted_with_all_its_clusters(visit, nested):
    model, _ = nested
    page = visit("nested")
    page.check("#level-1", force=True)
    page.check("#pick-2-0", force=True)
    page.wait_for_timeout(300)
    groups = model.cut(2)
    data = page.evaluate(f"[Array.from({COLOURS}.cluster), Array.from({COLOURS}.opacity)]")
    for cluster, opacity in zip(*data, strict=True):
        assert opacity == (0.75 if groups[cluster] == 0 else 0.1)
    opacity = "part => Number(getComputedStyle(part).opacity)"
    for k in range(5):
        leaf = page.locator(f".leaves .cluster-{k}").evaluate(opacity)
        assert (leaf == 1.0) == (groups[k] == 0)


def test_levels_work_without_scripts(visit, nested):
    model, _ = nested
    page = visit("nested", live=False, java_script_enabled=False)
    stroke = "part => getComputedStyle(part).stroke"
    lines = page.locator(".branches path:not(.tick)")
    assert len({lines.nth(k).evaluate(stroke) for k in range(5)}) == 5
    page.check("#level-1", force=True)
    assert page.locator(".clusters tbody:visible tr").count() == 2
    strokes = [lines.nth(k).evaluate(stroke) for k in range(5)]
    assert len(set(strokes)) == 2
    fill = "part => getComputedStyle(part).fill"
    points = [
        page.locator(f"#chart-data .static .cluster-{k} use").first.evaluate(fill) for k in range(5)
    ]
    assert points == strokes
    groups = model.cut(2)
    assert all(
        (strokes[a] == strokes[b]) == (groups[a] == groups[b]) for a in range(5) for b in range(5)
    )


def test_the_tree_fits_a_phone(visit):
    page = visit("nested", viewport={"width": 400, "height": 800}, is_mobile=True, has_touch=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    assert page.locator(".branches").bounding_box()["width"] > 200
