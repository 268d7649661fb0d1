// What is known of one model, from its entry in the JSON report: the same on a page of one and in a row's details.

function list(items, className = "") {
  return items.length ? el("ul", { class: className }, items.map((item) => el("li", {}, item))) : null;
}

function card(title, ...content) {
  return el("section", { class: "card" }, el("h2", {}, title), ...content);
}

function subtitle(entry) {
  const contents = { model: "model", weights: "weights only", architecture: "architecture only" }[entry.contents];
  const writer = entry.writer.keras_version ? `written by Keras ${entry.writer.keras_version}` : "";
  const backend = entry.writer.backend ? `backend ${entry.writer.backend}` : "";
  return [contents ? `${contents} in ${entry.container}` : entry.container, writer, backend, entry.optimizer ? `optimizer ${entry.optimizer}` : ""].filter(Boolean).join(" \u00b7 ");
}

/** What the wrapper is, or why there is none. */
function verdictCard(entry, drawn) {
  if (entry.error) {
    return card("What is wrong", el("p", { class: "trouble" }, sentence(entry.error.message)), el("p", { class: "dim" }, `error code ${entry.error.code}`),
      entry.wrappers.length ? entry.wrappers.map(wrapper) : null);
  }
  if (entry.wrappers.length) return card("Multi-GPU wrapper", entry.wrappers.map(wrapper), drawn ?? "");
  const near = entry.near_misses.map((miss) => [name(miss.layer), `: ${miss.reason}`]);
  return card("No multi-GPU wrapper", el("p", {}, "This is a single-device model, as far as the file tells."),
    near.length ? folded(`Why the nearest candidates are none (${near.length})`, () => list(near)) : "");
}

function wrapper(found) {
  const towers = found.towers === null ? "towers, their number not stored" : count(found.towers, "tower");
  const scope = { whole: "from the model's inputs to its outputs", head: "with layers behind it", embedded: "inside a larger model" }[found.scope];
  const sure = found.confidence === "proven" ? "proven: the file shows all of it" : "likely: a part rests on code or names that the file does not hold";
  return el("div", { class: "wrapper" },
    el("p", {}, "The model ", name(found.template, "b"), ` runs in ${towers} that share one set of weights, ${scope}.`),
    el("p", { class: "dim" }, sure),
    found.evidence.length ? folded("Evidence", () => list(found.evidence)) : "");
}

function nextCard(row, entry) {
  const steps = row.steps.map(([what, line]) => [el("p", {}, what), command(line)]);
  const done = [];
  if (entry.action) done.push(el("p", {}, badge(row.state, DATA.states[row.state]), " ", entry.output && !entry.error ? name(entry.output, "b") : ""));
  if (entry.backup) done.push(el("p", {}, "The old file is ", name(entry.backup, "b"), "."));
  if (entry.fix_would && !row.steps.length) done.push(el("p", {}, sentence(entry.fix_would)));
  if (entry.load) steps.push([el("p", {}, "Load it in Python"), command(entry.load)]);
  if (!done.length && !steps.length) return null;
  return card(entry.action ? "What was done" : "What to do", done, steps);
}

function loadsCard(row, entry) {
  const why = Object.entries(entry.does_not_load_in).filter(([software]) => software !== "Keras 3" || !row.keras_3);
  const not = why.map(([software, reason]) => [el("b", {}, software), `: ${reason}`]);
  if (!entry.loads_in.length && !not.length && !row.keras_3) return null;
  const subject = entry.action && entry.output ? "The output loads" : "It loads";
  return card("Where it loads",
    entry.loads_in.length ? [el("p", {}, `${subject} in`), list(entry.loads_in, "yes")] : el("p", {}, "Nothing known loads it as it is."),
    not.length ? [el("p", {}, "Not, or not safely, in"), list(not, "no")] : "",
    row.keras_3 ? el("p", {}, el("b", {}, "Keras 3"), `: ${row.keras_3}`) : "");
}

function safetyCard(entry) {
  if (entry.verdict === "unreadable") return null;
  const { stored_code: code, classes, functions, files } = entry.needs;
  const about = entry.findings.filter((finding) => finding.code === "stored-code");
  const own = [...classes, ...functions];
  const facts = about.map((finding) => el("p", { class: "found" }, sentence(finding.message)));
  if (code && !about.length) facts.push(el("p", { class: "found" }, "It contains Python code, which Keras runs when it is loaded."));
  if (about.length || code) facts.push(el("p", {}, "Load it only if you trust its author. unnest runs none of it."));
  if (own.length) facts.push(el("p", {}, "Loading it needs your own code:"), list(own.map((thing) => name(thing))));
  if (files?.length) facts.push(el("p", {}, "Loading it reads these files:"), list(files.map((thing) => name(thing))));
  if (entry.container === "saved_model") facts.push(el("p", {}, "A SavedModel is a program for TensorFlow: load it only if you trust its author. unnest runs none of it."));
  else if (!facts.length) facts.push(el("p", { class: "good" }, harmless(entry)));
  return card("Safety", facts);
}

function harmless({ contents }) {
  if (contents === "weights") return "Weights alone: there is no code in them. The model is built by yours.";
  return "No stored code, and no class or function of yours is needed to load it.";
}

function findingsCard(entry) {
  const shown = entry.findings.filter((finding) => finding.code !== "stored-code");
  if (!shown.length) return null;
  return card("Findings", list(shown.map((finding) => [
    el("span", { class: `badge ${finding.severity === "info" ? "good" : finding.severity === "error" ? "trouble" : "found"}` }, finding.severity), " ",
    `${sentence(finding.message)} ${sentence(finding.hint)} `, el("code", {}, finding.code)]), "findings"));
}

function changesCard(entry) {
  const parts = [];
  if (entry.conversions?.length) {
    parts.push(folded(`Converted for Keras 3 (${count(entry.conversions.length, "rule")})`, () => list(entry.conversions.map((change) =>
      [el("b", {}, change.rule), `: ${change.what} (${change.layers.join(", ")})`]))));
  }
  if (entry.dropped?.length) parts.push(folded(`Tensors of the wrapper that were removed (${entry.dropped.length})`, () => list(entry.dropped.map((tensor) => name(tensor)))));
  if (entry.checks?.length) parts.push(el("p", {}, `Read back and compared: ${entry.checks.join(", ")}.`));
  return parts.length ? card("What changed", parts) : null;
}

function cards(row, entry) {
  return el("div", { class: "cards" }, [verdictCard(entry), nextCard(row, entry), loadsCard(row, entry), safetyCard(entry), changesCard(entry), findingsCard(entry)]);
}
