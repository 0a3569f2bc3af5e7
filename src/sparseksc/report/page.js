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
  const chosen = () => document.querySelector("input[name=level]:checked")?.value ?? "0";
  const level = () => content.levels[Number(chosen())];
  const chip = (group) => document.getElementById(chosen() === "0" ? `pick-${group}` : `pick-${level().names.length}-${group}`);

  let shown = chosen();

  function paint() {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const palette = Array.from({ length: 8 }, (_, place) => colour(`c${place}`));
    const choice = picked();
    const { groups, leaders, names, shapes, strength, bars, highest } = level();
    for (const source of sources) {
      const points = source.name === "points";
      const group = points ? Array.from(source.data.cluster, (k) => groups[k]) : bars.group;
      source.data = {
        ...(points ? source.data : bars),
        ...(points ? { name: group.map((g) => names[g]), strength, marker: group.map((g) => content.shapes[shapes[g]]) } : {}),
        colour: group.map((g) => palette[leaders[g] % palette.length]),
        opacity: group.map((g) =>
          choice === "all" || Number(choice) === g ? plain[source.name] : faded[source.name]),
      };
    }
    const strengths = charts.get_model_by_name("strength");
    if (strengths && shown !== chosen()) strengths.y_range.setv({ start: 0, end: highest });
    shown = chosen();
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
    if (place) place.textContent = choice === "all"
      ? (content.levels.length > 1 ? `All ${level().names.length} clusters are shown.` : "All clusters are shown.")
      : `Cluster ${level().names[Number(choice)]} is highlighted.`;
  }

  document.querySelector(".picker")?.addEventListener("change", (event) => {
    // Clusters of another level are not highlighted.
    if (event.target.name === "level") document.getElementById("pick-all").checked = true;
    paint();
    announce();
  });

  // A click in the tree cuts it there.
  const branches = document.querySelector(".branches");
  branches?.addEventListener("click", (event) => {
    const box = branches.getBoundingClientRect();
    const place = (event.clientX - box.left) / box.width * 100;
    const merges = branches.dataset.heights.split(" ").filter((height) => Number(height) <= place).length;
    const wanted = content.levels[0].names.length - merges;
    const distance = ({ names }) => Math.abs(names.length - wanted);
    const nearest = content.levels.reduce((best, other, at) =>
      distance(other) < distance(content.levels[best]) ? at : best, 0);
    const button = document.querySelector(`input[name=level][value="${nearest}"]`);
    button.checked = true;
    button.dispatchEvent(new Event("change", { bubbles: true }));
  });
  dark.addEventListener("change", paint);

  for (const source of sources) {
    source.selected.change.connect(() => {
      const [first] = source.selected.indices;
      if (first === undefined) return;
      const button = chip(source.data.group?.[first] ?? level().groups[source.data.cluster[first]]);
      source.selected.indices = [];
      if (!button) return;
      button.checked = !button.checked;
      if (!button.checked) document.getElementById("pick-all").checked = true;
      button.dispatchEvent(new Event("change", { bubbles: true }));
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
    const start = ranges.map(([range]) => [range.start, range.end]);
    const home = (place) => root.name === "strength" && place === 1 ? [0, level().highest] : start[place];
    figure.querySelector(".tools").hidden = false;
    figure.querySelector(".zoom").addEventListener("click", (event) => {
      if (event.target.dataset.zoom === undefined) return;
      const factor = Number(event.target.dataset.zoom);
      ranges.forEach(([range, log], place) => {
        let [start, end] = factor === 0 ? home(place) : [range.start, range.end];
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
