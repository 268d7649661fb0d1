// A page of one model: cards, totals, the graph before and after, and the layers as a table.

const ROLES = { input: "input", layer: "layer", slice: "slice (removed)", tower: "tower", merge: "merge (removed)", more: "towers", group: "layers", kept: "template (kept)" };

function modelPage(data) {
  const row = data.rows[0], entry = { ...data.defaults, ...row.entry }, model = data.model;
  const titles = model.sides.length > 1 ? ["before", "after"] : ["model"];
  const panel = el("aside", { class: "panel", "aria-live": "polite", "aria-label": "Chosen layer" }, el("p", { class: "dim" }, "Choose a layer to see its settings and weights."));
  const views = model.sides.map((side, i) => side.figure === null ? null : graphView({
    title: titles[i], figures: data.figures, at: side.figure,
    select: (box, figure, number, act) => panel.replaceChildren(...layerPanel(data, box, figure, number, act)),
  }));
  return [
    el("p", { class: "subtitle" }, badge(row.state, data.states[row.state]), " ", subtitle(entry)),
    cards(row, entry),
    totals(model, titles),
    graphs(data, views.filter(Boolean), panel),
    model.sides[0].layers.length ? layerTable(model, views, titles) : "",
  ];
}

function totals({ sides, refusal }, titles) {
  const lines = [
    ["Layers, also in nested models", (t) => t.layers ? t.layers.toLocaleString("en") : "not stored"], ["Parameters", (t) => t.parameters.toLocaleString("en")],
    ["Bytes of weights", (t) => bytes(t.nbytes)], ["Types", (t) => t.dtypes.join(", ") || "-"],
    ["Inputs", (t) => shapes(t.inputs)], ["Outputs", (t) => shapes(t.outputs)],
    ["Optimizer state", (t) => t.state ? `${count(t.state, "tensor")}, ${bytes(t.state_nbytes)}` : "none"],
  ];
  return el("section", { class: "totals" }, el("h2", {}, "In numbers"),
    el("table", {}, el("thead", {}, el("tr", {}, el("td"), titles.map((title) => el("th", { scope: "col" }, title)))),
      el("tbody", {}, lines.map(([label, value]) => el("tr", {}, el("th", { scope: "row" }, label), sides.map(({ totals: t }) => el("td", {}, value(t))))))),
    refusal ? el("p", { class: "trouble" }, `fix refuses it: ${refusal}`) : "");
}

function shapes(ends) {
  const shown = ends.slice(0, 8).map((end) => el("div", {}, name(end)));
  return ends.length ? [...shown, ends.length > 8 ? `and ${ends.length - 8} more` : ""] : "-";
}

function graphs(data, views, panel) {
  if (!views.length) return el("section", {}, el("h2", {}, "Layers"), el("p", { class: "dim" }, "The file stores no graph of layers."));
  const hits = el("span", { class: "dim", role: "status" });
  const search = el("input", { type: "search", id: "find-layer", placeholder: "Find a layer by name or class", "aria-label": "Find a layer by name or class" });
  search.addEventListener("input", () => {
    const words = search.value.trim().toLowerCase();
    const numbers = views.map((view) => view.find(words));
    hits.textContent = words ? `${numbers.reduce((a, b) => a + b, 0)} found` : "";
  });
  search.addEventListener("keydown", (event) => { if (event.key === "Enter") views.forEach((view) => view.first()); });
  const box = el("div", { class: `graphs of-${views.length}` }, views.map((view) => view.root));
  const tabs = views.length > 1 ? el("div", { class: "tabs", role: "group", "aria-label": "Graph" }, ["Before", "After"].map((label, i) => {
    const tab = el("button", { type: "button", "aria-pressed": i === 0 ? "true" : "false" }, label);
    tab.addEventListener("click", () => {
      box.classList.toggle("second", i === 1);
      [...tab.parentNode.children].forEach((other) => other.setAttribute("aria-pressed", String(other === tab)));
    });
    return tab;
  })) : null;
  return el("section", { class: "pictures" }, el("h2", {}, "Graph"),
    el("div", { class: "bar" }, search, hits, tabs),
    legend(data.legend, data.figures), box, panel,
    el("p", { class: "dim" }, "Drag to move, Ctrl and the wheel or two fingers to zoom. A box with a thick line opens: double-click it, or choose it and press Enter."));
}

/** The facts of a box. */
function layerPanel(data, [label, told, role, , , , inside, number, full], figure, box, act) {
  const facts = number >= 0 ? data.model.facts[number] : null;
  const reads = figure.edges.filter(([, end]) => end === box).map(([start]) => start);
  const feeds = figure.edges.filter(([start]) => start === box).map(([, end]) => end);
  const links = (numbers) => numbers.slice(0, 12).map((n) => el("button", { type: "button", class: "link", onclick: () => act.go(n) }, name(figure.boxes[n][0])));
  const settings = facts?.settings.length ? folded(`Settings (${facts.settings.length})`, () => el("table", { class: "settings" }, el("tbody", {}, facts.settings.map(([key, value]) =>
    el("tr", {}, el("th", { scope: "row" }, name(key)), el("td", { class: value === "null" ? "dim" : null }, el("code", {}, value)))))), true) : "";
  return [
    el("h3", {}, name(full), " ", el("span", { class: "dim" }, facts?.class || told)),
    el("div", { class: "facts" }, el("div", {},
      el("dl", {},
        el("dt", {}, "part"), el("dd", {}, ROLES[role] ?? role),
        facts?.output ? [el("dt", {}, "output"), el("dd", {}, el("code", {}, facts.output))] : "",
        reads.length ? [el("dt", {}, "reads"), el("dd", {}, links(reads))] : "",
        feeds.length ? [el("dt", {}, "read by"), el("dd", {}, links(feeds))] : ""),
      inside >= 0 ? el("p", {}, el("button", { type: "button", onclick: act.open }, `Open (${count(data.figures[inside].layers, "layer")})`)) : "",
      facts ? weightTable(data.model, facts) : ""), settings),
  ];
}

function weightTable(model, facts) {
  if (!facts.weights.length) return el("p", { class: "dim" }, "No weights.");
  const weights = facts.weights.slice(0, 40).map((n) => model.weights[n]);
  return el("div", { class: "weights" }, weights.map(([title, shape, dtype, size, nbytes, found]) => el("figure", {},
    el("figcaption", {}, name(title, "b"), el("div", {}, el("code", {}, `${shape} ${dtype}`)), el("div", { class: "dim" }, `${count(size, "parameter")}, ${bytes(nbytes)}`)),
    found ? histogram(found) : el("p", { class: "dim" }, "values not read"))),
  facts.weights.length > 40 ? el("p", { class: "dim" }, `and ${facts.weights.length - 40} more`) : "");
}

function histogram({ low, high, mean, std, counts, others }) {
  const most = Math.max(...counts), w = 6, h = 40;
  const told = `${brief(low)} to ${brief(high)}, mean ${brief(mean)}, deviation ${brief(std)}${others ? `, ${others} NaN or infinite` : ""}`;
  const bars = counts.map((n, i) => draw("rect", { x: i * w, y: h - (n / most) * h, width: w - 1, height: Math.max((n / most) * h, n ? 1 : 0) }));
  return el("div", { class: "histogram" }, draw("svg", { viewBox: `0 0 ${counts.length * w} ${h}`, preserveAspectRatio: "none", role: "img", "aria-label": told }, bars), el("div", { class: "dim" }, told));
}

/** All layers before, or of a model that stays as it is. */
function layerTable(model, views, titles) {
  const rows = model.sides[0].layers.map(([path, number, figure, box]) => {
    const facts = model.facts[number], weights = facts.weights.map((n) => model.weights[n]);
    const nested = figure >= 0 && DATA.figures[figure].boxes[box][6] >= 0;
    return { path, label: path.join(" / "), facts, figure, box, nested,
      parameters: weights.reduce((sum, w) => sum + w[3], 0), nbytes: weights.reduce((sum, w) => sum + w[4], 0), dtypes: [...new Set(weights.map((w) => w[2]))].join(", ") };
  });
  const known = model.sides[0].totals.layers, models = known ? rows.length - known : 0;
  const counted = models > 0 ? `${(rows.length - models).toLocaleString("en")}, and ${count(models, "nested model")}` : rows.length.toLocaleString("en");
  const words = el("input", { type: "search", id: "filter-layers", placeholder: "Filter the layers", "aria-label": "Filter the layers" });
  const table = dataTable({
    label: "Layers",
    rows,
    columns: [
      { id: "layer", title: "layer", value: (r) => r.label, wide: true, cell: (r) => [r.path.length > 1 ? el("span", { class: "dim minor" }, name(r.path.slice(0, -1).join(" / ")), " / ") : "", name(r.path[r.path.length - 1])] },
      { id: "class", title: "class", value: (r) => r.facts.class, minor: true },
      { id: "output", title: "output shape", value: (r) => r.facts.output ?? "", minor: true },
      { id: "parameters", title: "parameters", value: (r) => r.parameters, number: true, cell: (r) => r.parameters ? r.parameters.toLocaleString("en") : "" },
      { id: "bytes", title: "bytes", value: (r) => r.nbytes, number: true, minor: true, cell: (r) => r.nbytes ? bytes(r.nbytes) : "" },
      { id: "type", title: "type", value: (r) => r.dtypes, minor: true },
    ],
    keep: (r) => words.value.toLowerCase().split(/\s+/).every((word) => `${r.label} ${r.facts.class}`.toLowerCase().includes(word)),
    open: views[0] ? (r) => { if (r.figure >= 0) { views[0].show(r.figure, r.box); views[0].picture.scrollIntoView({ block: "center" }); } } : null,
  });
  words.addEventListener("input", table.refresh);
  setTimeout(table.refresh);
  return el("section", { class: "layers" }, el("h2", {}, known ? `Layers${titles.length > 1 ? " before" : ""} (${counted})` : "Weights"), el("div", { class: "bar" }, words), table.root,
    model.unread ? el("p", { class: "dim" }, `The values of ${count(model.unread, "weight")} were not read: a page reads the smallest, of 16 MiB together.`) : "",
    model.settings_left_out ? el("p", { class: "dim" }, `The settings of ${count(model.settings_left_out, "layer")} were left out.`) : "");
}
