// Makes the charts live: colours from the style sheet, one cluster highlighted, zoom by buttons.
"use strict";
(async () => {
  const content = JSON.parse(document.getElementById("live-charts").textContent);
  const figureOf = (id) => document.getElementById(id).closest("figure");
  // Charts measure their place when they are made, so it has to be there.
  for (const id of Object.values(content.roots)) figureOf(id).classList.add("ready");
  try {
    await Bokeh.embed.embed_items(
      { page: content.document },
      [{ docid: "page", roots: content.roots, root_ids: Object.keys(content.roots) }],
    );
  } catch (problem) {
    // The static charts say the same.
    for (const id of Object.values(content.roots)) figureOf(id).classList.remove("ready");
    throw problem;
  }

  const charts = Bokeh.documents[Bokeh.documents.length - 1];
  const sources = ["points", "bars"].map((name) => charts.get_model_by_name(name)).filter(Boolean);
  const faded = { points: 0.1, bars: 0.15 };
  const plain = { points: 0.75, bars: 0.95 };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const picked = () => document.querySelector("input[name=pick]:checked")?.value ?? "all";

  function paint() {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const palette = Array.from({ length: 8 }, (_, place) => colour(`c${place}`));
    const choice = picked();
    for (const source of sources) {
      const cluster = Array.from(source.data.cluster);
      source.data = {
        ...source.data,
        colour: cluster.map((k) => palette[k % palette.length]),
        opacity: cluster.map((k) =>
          choice === "all" || Number(choice) === k ? plain[source.name] : faded[source.name]),
      };
    }
    const font = getComputedStyle(document.body).fontFamily;
    for (const root of charts.roots()) {
      for (const part of root.references()) {
        if (/Axis$/.test(part.type)) {
          part.setv({
            axis_label_text_color: colour("quiet"), major_label_text_color: colour("quiet"),
            axis_line_color: colour("rule"), major_tick_line_color: colour("rule"),
            axis_label_text_font: font, major_label_text_font: font,
            axis_label_text_font_size: "13px", major_label_text_font_size: "12px",
          });
        } else if (part.type === "Grid") {
          part.setv({ grid_line_color: colour("rule") });
        } else if (part.type === "ColorBar") {
          part.setv({ major_label_text_color: colour("quiet"), major_label_text_font: font });
        }
      }
    }
  }

  function announce() {
    const place = document.getElementById("announce");
    const choice = picked();
    if (place) place.textContent = choice === "all" ? "All clusters are shown." : `Cluster ${choice} is highlighted.`;
  }

  document.querySelector(".picker")?.addEventListener("change", () => { paint(); announce(); });
  dark.addEventListener("change", paint);

  for (const source of sources) {
    source.selected.change.connect(() => {
      const [first] = source.selected.indices;
      if (first === undefined) return;
      const chip = document.getElementById(`pick-${source.data.cluster[first]}`);
      source.selected.indices = [];
      if (!chip) return;
      chip.checked = !chip.checked;
      if (!chip.checked) document.getElementById("pick-all").checked = true;
      chip.dispatchEvent(new Event("change", { bubbles: true }));
    });
  }

  // To the keyboard a chart is a picture: the buttons and the picker beside it do what it can.
  function leaveFocus(part) {
    for (const inner of part.querySelectorAll("*")) {
      if (inner.tabIndex >= 0) inner.tabIndex = -1;
      if (inner.shadowRoot) leaveFocus(inner.shadowRoot);
    }
  }
  document.querySelectorAll(".live").forEach(leaveFocus);

  // A finger that drags scrolls the page.
  const touch = matchMedia("(pointer: coarse)").matches;
  for (const root of charts.roots()) {
    if (touch) root.toolbar.active_drag = null;
    const logarithmic = root.y_scale.type === "LogScale";
    const figure = figureOf(content.roots[root.id]);
    const ranges = [[root.x_range, false], [root.y_range, logarithmic]];
    const home = ranges.map(([range]) => [range.start, range.end]);
    figure.querySelector(".tools").hidden = false;
    figure.querySelector(".zoom").addEventListener("click", (event) => {
      if (event.target.dataset.zoom === undefined) return;
      const factor = Number(event.target.dataset.zoom);
      ranges.forEach(([range, log], place) => {
        let [start, end] = factor === 0 ? home[place] : [range.start, range.end];
        if (factor !== 0) {
          if (log) [start, end] = [Math.log(start), Math.log(end)];
          const middle = (start + end) / 2, reach = (end - start) / 2 * factor;
          [start, end] = [middle - reach, middle + reach];
          if (log) [start, end] = [Math.exp(start), Math.exp(end)];
        }
        range.setv({ start, end });
      });
    });
  }
  paint();
  document.documentElement.dataset.live = "yes";
})();
