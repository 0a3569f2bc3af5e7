"""Check the pages that Sphinx has built: ``python docs/check_site.py site``.

No raw markup in the text, no internal link without a target, no fewer than 20 examples; and, where
there is Chromium, neither overflow nor errors on a telephone and a wide screen, light and dark, and
nothing that axe-core calls a serious obstacle to readers with disabilities: on one page of each
kind at all of these, on the others at one.
"""

import os
import re
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: Roles of reStructuredText and MyST, links of Markdown, directives, and formulas that MathJax does
#: not see.
RAW_MARKUP = re.compile(
    r":(?:math|func|class|meth|mod|ref|doc|term):`|\{(?:math|func|class|meth|ref|doc|term)\}`"
    r"|\]\([\w./#-]+\)|^:::|```|\$\$|\.\. (?:math|code-block|note)::",
    re.MULTILINE,
)
LEAST_EXAMPLES = 20
WIDTHS, SCHEMES = (400, 1400), ("light", "dark")
#: Pages that are looked at in the browser beside those at the top: one of each kind.
BROWSED = (
    "generated/sparseksc.KernelSpectralClustering.html",
    "gallery/index.html",
    "gallery/plot_01_spirals.html",
)
#: What axe-core finds is a fault from here on; "minor" and "moderate" are not.
GRAVE = ("serious", "critical")
#: Where axe-core looks at all pages: it takes seconds a page. At the other widths and colours it
#: looks at one page of each kind.
AXE_AT = (1400, "light")
KINDS = (*BROWSED, "index.html", "kernels.html", "theory.html")
#: Without a server, a page may not read its style sheets again.
AXE_OPTIONS = {"preload": False, "resultTypes": ["violations"]}
#: Browsers that look at pages at the same time, one for each core.
MOST_BROWSERS = 4
#: Milliseconds that a page may take to load, on a busy machine.
PATIENCE = 120_000
#: A colour that is fading in has another contrast than the one that is read.
STILL = "*, *::before, *::after { transition: none !important; animation: none !important; }"
#: Fonts and formulas come after a page has loaded, and change its width; styles take two frames.
SETTLED = """async () => {
    await document.fonts.ready;
    await window.MathJax?.startup?.promise;
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""

#: Text that leaves its box; tables, listings and formulas scroll by themselves.
CLIPPED = """() => [...document.querySelectorAll(".bd-article :is(p, li, dt, dd, h1, h2, h3)")]
    .filter(box => box.scrollWidth > box.clientWidth + 1 && box.clientWidth > 0)
    .filter(box => !box.closest("table, pre") && !box.querySelector("table, pre, mjx-container"))
    .map(box => box.textContent.trim().slice(0, 60))"""


class Page(HTMLParser):
    """Text outside of code and formulas, links and anchors of a page."""

    HIDDEN = frozenset({"script", "style", "pre", "code"})

    def __init__(self, path):
        super().__init__()
        self.text, self.links, self.anchors, self.hidden = [], [], set(), 0
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.hidden += tag in self.HIDDEN
        self.anchors.update(given[name] for name in ("id", "name") if given.get(name))
        self.links += [given[name] for name in ("href", "src") if given.get(name)]

    def handle_endtag(self, tag):
        self.hidden -= tag in self.HIDDEN

    def handle_data(self, data):
        if not self.hidden:
            self.text.append(data)


def read_pages(site):
    return {
        path: Page(path) for path in sorted(site.rglob("*.html")) if "_static" not in path.parts
    }


def raw_markup(pages):
    """Markup that a reader would see."""
    for path, page in pages.items():
        for found in RAW_MARKUP.findall("".join(page.text)):
            yield f"{path}: raw markup {found!r}"


def broken_links(pages):
    """Links to pages and anchors of the site that are not there."""
    targets = {path.resolve(): page for path, page in pages.items()}
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path.resolve()
            if not target.exists():
                yield f"{path}: {link} leads nowhere"
            elif target in targets and parts.fragment:
                if unquote(parts.fragment) not in targets[target].anchors:
                    yield f"{path}: {link} has no such anchor"


def missing_examples(site):
    """Whether the gallery has enough examples, and each of them a picture."""
    examples = sorted((site / "gallery").glob("plot_*.html"))
    if len(examples) < LEAST_EXAMPLES:
        yield f"{len(examples)} examples in the gallery, {LEAST_EXAMPLES} are wanted"
    for path in examples:
        if "_images/sphx_glr_" not in path.read_text("utf-8"):
            yield f"{path}: no picture"


def faults_in_the_browser(site, chromium):
    """Console errors, pages that are wider than the window, and what axe-core finds."""
    names = [*sorted(path.name for path in site.glob("*.html")), *BROWSED]
    browsers = min(MOST_BROWSERS, os.cpu_count() or 1)
    with ThreadPoolExecutor(browsers) as pool:
        look = partial(faults_of_pages, site, chromium)
        found = pool.map(look, [names[first::browsers] for first in range(browsers)])
        return [fault for faults in found for fault in faults]


def faults_of_pages(site, chromium, names):
    """What is wrong with some pages, in a browser of their own."""
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright

    axe, faults = Axe(), []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for width in WIDTHS:
            for scheme in SCHEMES:
                context = browser.new_context(
                    viewport={"width": width, "height": 900}, color_scheme=scheme
                )
                for name in names:
                    tab = context.new_page()
                    asked = axe if (width, scheme) == AXE_AT or name in KINDS else None
                    found = faults_of_a_page(tab, site / name, asked)
                    faults += [f"{name} at {width} px, {scheme}: {fault}" for fault in found]
                    tab.close()
                context.close()
        browser.close()
    return faults


def faults_of_a_page(tab, path, axe):
    """What the browser and, where it is asked, axe-core find wrong with one page."""
    errors = []
    tab.on("console", lambda message: message.type == "error" and errors.append(message.text))
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.goto(path.resolve().as_uri(), wait_until="load", timeout=PATIENCE)
    tab.add_style_tag(content=STILL)
    tab.evaluate(SETTLED)
    wide = tab.evaluate("document.documentElement.scrollWidth - innerWidth")
    found = axe.run(tab, options=AXE_OPTIONS).response["violations"] if axe else []
    yield from errors
    if wide > 0:
        yield f"{wide} px wider than the window"
    for text in tab.evaluate(CLIPPED):
        yield f"text is wider than its column: {text!r}"
    for fault in found:
        if fault["impact"] in GRAVE:
            yield f"{fault['id']} ({fault['help']}) at {fault['nodes'][0]['target']}"


def main():
    site = Path(sys.argv[1])
    pages = read_pages(site)
    faults = [*raw_markup(pages), *broken_links(pages), *missing_examples(site)]
    chromium = shutil.which("chromium")
    if chromium is None:
        print("There is no Chromium: the pages were not looked at in a browser.")
    else:
        faults += faults_in_the_browser(site, chromium)
    print(*faults, f"{len(pages)} pages, {len(faults)} faults", sep="\n")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
