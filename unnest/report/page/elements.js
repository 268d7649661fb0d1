// Elements of the page. What comes from a file becomes text by `plain` and nothing else: no markup, no attribute that acts.

const SVG = "http://www.w3.org/2000/svg";

/** Control, format and direction characters as escapes, as the terminal has them. */
function plain(value) {
  return String(value).replace(/[\p{C}\p{Z}]/gu, (c) => {
    if (c === " ") return c;
    const code = c.codePointAt(0);
    const [letter, digits] = code < 0x100 ? ["x", 2] : code < 0x10000 ? ["u", 4] : ["U", 8];
    return `\\${letter}${code.toString(16).padStart(digits, "0")}`;
  });
}

function append(parent, children) {
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== "") {
      parent.append(child instanceof Node ? child : plain(child));
    }
  }
  return parent;
}

/** An element: attributes are this page's own, children elements or text. */
function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  return append(made, children);
}

/** An element of a picture. */
function draw(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return append(made, children);
}

/** A name out of the file: letters that run from right to left stay inside it. */
function name(text, tag = "bdi") {
  return el(tag, { class: "name", dir: tag === "bdi" ? "auto" : null }, text);
}

/** A sentence of the report, which begins in lower case and has no full stop, as one of a text. */
function sentence(text) {
  const whole = /[.!?:]$/.test(text) ? text : `${text}.`;
  return whole.charAt(0).toUpperCase() + whole.slice(1);
}

function count(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

function bytes(number) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let size = number, unit = 0;
  while (size >= 1024 && unit < units.length - 1) { size /= 1024; unit += 1; }
  return `${unit ? size.toFixed(size < 10 ? 2 : 1) : size} ${units[unit]}`;
}

function brief(number) {
  if (number === 0) return "0";
  const size = Math.abs(number);
  return size >= 1e-3 && size < 1e5 ? String(Number(number.toPrecision(4))) : number.toExponential(2);
}

/** A line to paste, with a button that copies it. */
function command(text) {
  // A word each: a browser also breaks lines behind hyphens, and `--` alone is another option.
  const words = text.split(/( +)/).map((part, i) => (i % 2 ? part : el("span", { class: "word" }, part)));
  const code = append(el("code", { class: "line" }), words);
  const button = el("button", { type: "button", class: "copy" }, "Copy");
  button.addEventListener("click", async () => {
    button.textContent = (await copied(text, code)) ? "Copied" : "Press Ctrl+C";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  return el("div", { class: "command" }, code, button);
}

async function copied(text, shown) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    getSelection().selectAllChildren(shown);
    return document.execCommand("copy");
  }
}

/** A part that opens on a click; what is in it is made then. */
function folded(title, make, open = false) {
  const box = el("details", { open }, el("summary", {}, title));
  let made = false;
  const fill = () => { if (box.open && !made) { made = true; append(box, [make()]); } };
  box.addEventListener("toggle", fill);
  fill();
  return box;
}

function badge(state, kind) {
  return el("span", { class: `badge ${kind}` }, state);
}

/** Hand the reader a file. */
function save(filename, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  el("a", { href: address, download: filename }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
