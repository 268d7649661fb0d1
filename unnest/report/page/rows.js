// A page of many models: totals, bars, a table to search, filter and sort, and a dialog with all that is known of a row.

function rowsPage(data) {
  const rows = data.rows.map((row) => ({ ...row, entry: { ...data.defaults, ...row.entry } }));
  const folder = commonFolder(rows.map((row) => row.entry.path));
  rows.forEach((row) => { row.words = searchable(row); row.file = row.entry.path.slice(folder.length); });
  const counts = new Map();
  rows.forEach((row) => counts.set(row.state, (counts.get(row.state) ?? 0) + 1));
  const states = Object.keys(data.states).filter((state) => counts.has(state));
  const off = new Set();

  const words = el("input", { type: "search", id: "words", placeholder: "Filter by words", "aria-label": "Filter by words" });
  const shown = el("span", { class: "dim", role: "status" });
  const boxes = states.map((state) => {
    const box = el("input", { type: "checkbox", checked: true, value: state });
    box.addEventListener("change", () => { if (box.checked) off.delete(state); else off.add(state); again(); });
    return el("label", { class: `chip ${data.states[state]}` }, box, ` ${state} (${counts.get(state).toLocaleString("en")})`);
  });
  let wanted = [];
  const table = dataTable({ label: "Files", rows, columns: fileColumns(data), open: (row) => detail(data, row), keep: (row) => !off.has(row.state) && wanted.every((word) => row.words.includes(word)) });
  const again = () => {
    wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    table.refresh();
    shown.textContent = `${table.rows().length.toLocaleString("en")} of ${rows.length.toLocaleString("en")} shown`;
  };
  words.addEventListener("input", again);
  setTimeout(again);
  const download = (label, make) => el("button", { type: "button", onclick: () => make(table.rows()) }, label);
  return [
    el("p", { class: "subtitle" }, `unnest ${data.command}`, folder ? [" in ", name(folder)] : ""),
    bar("Files by state", states.map((state) => [state, counts.get(state), data.states[state]])),
    data.steps.length ? card("What to do", data.steps.map(([what, line]) => [el("p", {}, what), command(line)])) : "",
    folded("By container, writer, template and error", () => breakdowns(rows), matchMedia("(min-width: 44rem)").matches),
    el("div", { class: "bar" }, words, boxes, shown, el("span", { class: "grow" }), download("Download CSV", asCsv), download("Download JSON", (some) => asJson(data, some))),
    table.root,
    el("p", { class: "dim" }, "A click on a row shows all that is known of a file, its graph too. A click on a column's head sorts. The downloads hold the rows that are shown."),
  ];
}

/** The folder that all files are in, with the slash behind it. */
function commonFolder(paths) {
  let shared = paths.length ? paths[0] : "";
  for (const path of paths) {
    let n = 0;
    while (n < shared.length && shared[n] === path[n]) n += 1;
    shared = shared.slice(0, n);
  }
  return shared.slice(0, shared.lastIndexOf("/") + 1);
}

function searchable({ entry, state }) {
  return [entry.path, entry.output, state, entry.container, entry.contents, entry.writer.keras_version && `keras ${entry.writer.keras_version}`, entry.optimizer,
    ...entry.wrappers.map((w) => w.template), ...entry.findings.map((f) => f.code), entry.error?.code, entry.error?.message, ...entry.loads_in].filter(Boolean).join(" ").toLowerCase();
}

function towersOf(entry) {
  return entry.wrappers.map((w) => w.towers ?? "?").join(" x ");
}

/** Software that loads a file, and what it needs, without what the row says elsewhere. */
function brief(software) {
  return software.replace(" (Keras 2)", "").replace(", which wrote it", "");
}

function found({ entry }) {
  if (entry.error) return entry.error.message.replace(`${entry.path}: `, "");
  if (entry.wrappers.length) return `${towersOf(entry)} towers of ${entry.wrappers[entry.wrappers.length - 1].template}`;
  return entry.findings.some((f) => f.code === "needs-architecture") ? "may be parallel: pass --architecture MODEL.json to be sure" : "";
}

function fileColumns(data) {
  const order = Object.keys(data.states);
  return [
    { id: "state", title: data.command === "fix" ? "action" : "verdict", value: (r) => order.indexOf(r.state), number: true, cell: (r) => badge(r.state, data.states[r.state]) },
    { id: "file", title: "file", value: (r) => r.file, wide: true, path: true },
    ...(data.command === "fix" ? [{ id: "output", title: "output", value: (r) => r.entry.error ? "" : r.entry.output ?? "", minor: true, wide: true, path: true }] : []),
    { id: "found", title: "found", value: found, wide: true, minor: true },
    { id: "writer", title: "written by", value: (r) => r.entry.writer.keras_version ? `Keras ${r.entry.writer.keras_version}` : "", minor: true },
    { id: "container", title: "container", value: (r) => r.entry.container ?? "", minor: true },
    { id: "loads", title: "loads in", value: (r) => r.entry.loads_in.map(brief).join("; "), minor: true },
  ];
}

/** One bar in parts, and what they mean. */
function bar(label, parts) {
  const all = parts.reduce((sum, [, n]) => sum + n, 0) || 1;
  let x = 0;
  const pieces = parts.map(([title, n, kind], i) => {
    const piece = draw("rect", { class: `piece ${kind ?? `tone-${i % 5}`}`, x, y: 0, width: Math.max((n / all) * 1000 - 1, 1), height: 20 });
    x += (n / all) * 1000;
    return append(piece, [draw("title", {}, `${title}: ${n}`)]);
  });
  const told = parts.map(([title, n]) => `${n.toLocaleString("en")} ${title}`).join(", ");
  return el("figure", { class: "stack" }, draw("svg", { viewBox: "0 0 1000 20", preserveAspectRatio: "none", role: "img", "aria-label": `${label}: ${told}` }, pieces),
    el("figcaption", {}, parts.map(([title, n, kind], i) => el("span", { class: `dot ${kind ?? `tone-${i % 5}`}` }, `${n.toLocaleString("en")} `, name(title)))));
}

const BREAKDOWN_PARTS = 8;

function breakdowns(rows) {
  const by = (label, value) => {
    const counts = new Map();
    rows.forEach((row) => { const key = value(row.entry); if (key) counts.set(key, (counts.get(key) ?? 0) + 1); });
    const parts = [...counts].sort((a, b) => b[1] - a[1]);
    const rest = parts.splice(BREAKDOWN_PARTS).reduce((sum, [, n]) => sum + n, 0);
    if (rest) parts.push(["others", rest]);
    const most = Math.max(...parts.map(([, n]) => n));
    return parts.length ? el("section", { class: "card" }, el("h2", {}, label), el("table", { class: "bars" }, el("tbody", {}, parts.map(([title, n]) => el("tr", {},
      el("th", { scope: "row" }, name(title)), el("td", { class: "number" }, n.toLocaleString("en")),
      el("td", {}, append(draw("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" }), [draw("rect", { class: "tone-0", x: 0, y: 0, width: Math.max((n / most) * 100, 1), height: 10 })]))))))) : null;
  };
  return el("div", { class: "cards small" },
    by("Containers", (e) => e.container), by("Written by", (e) => e.writer.keras_version && `Keras ${e.writer.keras_version}`),
    by("Templates", (e) => e.wrappers.length ? e.wrappers[e.wrappers.length - 1].template : null), by("Errors", (e) => e.error?.code));
}

/** A dialog with all that is known of a row. */
function detail(data, row) {
  const { entry } = row;
  const close = el("button", { type: "button", class: "close", "aria-label": "Close" }, "\u00d7");
  const drawing = row.figures ? folded("Graph", () => picturesOf(data, row.figures), entry.wrappers.length > 0) : entry.error ? "" :
    el("p", { class: "dim" }, "No picture in this page. A page of this file alone has all its layers:");
  const alone = `unnest inspect ${quoted(entry.path)} --report model.html`;
  const box = el("dialog", { "aria-labelledby": "detail-title", class: "detail" },
    el("div", { class: "head" }, el("h2", { id: "detail-title" }, name(entry.path)), close),
    el("p", { class: "subtitle" }, badge(row.state, data.states[row.state]), " ", subtitle(entry)),
    drawing, cards(row, entry),
    entry.error && entry.verdict === "unreadable" ? "" : card("A page of its own", el("p", {}, "With every layer, its settings and its weights."), command(alone)));
  close.addEventListener("click", () => box.close());
  box.addEventListener("click", (event) => { if (event.target === box) box.close(); });
  const before = document.activeElement;
  box.addEventListener("close", () => { box.remove(); if (before?.isConnected) before.focus(); });
  document.body.append(box);
  box.showModal();
}

function picturesOf(data, numbers) {
  const shown = numbers.map((number) => data.figures[number]);
  const views = numbers.map((number) => graphView({ title: data.figures[number].title, figures: data.figures, at: number, select: () => {} }));
  return el("div", {}, legend(data.legend, shown), el("div", { class: "graphs of-2" }, views.map((view) => view.root)));
}

/** As a shell takes it. */
function quoted(path) {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\"'\"'")}'`;
}

function asCsv(rows) {
  const heads = ["state", "path", "output", "verdict", "towers", "template", "container", "contents", "keras_version", "optimizer", "loads_in", "findings", "error_code", "error"];
  const lines = rows.map(({ state, entry: e }) => [state, e.path, e.output, e.verdict, towersOf(e), e.wrappers.map((w) => w.template).join("; "), e.container, e.contents,
    e.writer.keras_version, e.optimizer, e.loads_in.join("; "), e.findings.map((f) => f.code).join("; "), e.error?.code, e.error?.message]);
  save("unnest.csv", "text/csv", [heads, ...lines].map((cells) => cells.map(csvCell).join(",")).join("\r\n") + "\r\n");
}

/** A cell that no spreadsheet takes for a formula. */
function csvCell(value) {
  const text = value === null || value === undefined ? "" : plain(value);
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

function asJson(data, rows) {
  const files = rows.map((row) => row.entry);
  const verdicts = Object.fromEntries(["clean", "parallel", "unreadable"].map((v) => [v, files.filter((f) => f.verdict === v).length]));
  const actions = {};
  files.forEach((f) => { if (f.action) actions[f.action] = (actions[f.action] ?? 0) + 1; });
  save("unnest.json", "application/json", JSON.stringify({ schema_version: data.schema_version, tool: { name: "unnest", version: data.version }, files, summary: { files: files.length, ...verdicts, actions } }, null, 2));
}
