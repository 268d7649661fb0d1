// A graph of layers: drag or arrow keys move it, the wheel with Ctrl, a pinch or + and - zoom it. Boxes out of sight are
// not in the page, and from afar a graph is a few outlines, so that thousands of layers stay fluid.

const BOX_HEIGHT = 48, NEAR = 0.35, SMALLEST = 0.004, LARGEST = 3;

/**
 * figures: all figures of the page; `at` the number of the one to begin with.
 * select(box, figure): called with the box that was chosen. Returns {root, show(figure, box), find(words)}.
 */
function graphView({ title, figures, at, select }) {
  const trail = toWrapper(figures, at);
  let figure = figures[at], chosen = -1, found = new Set();
  let scale = 1, left = 0, top = 0, waiting = false;

  const scene = draw("g");
  const picture = draw("svg", { role: "application", tabindex: 0, "aria-label": `${title}: graph of layers. Arrow keys move from layer to layer, plus and minus zoom, Enter opens a model.` }, scene);
  const crumbs = el("nav", { class: "crumbs", "aria-label": `${title}: models` });
  const button = (label, text, act) => el("button", { type: "button", "aria-label": `${title}: ${label}`, title: label, onclick: act }, text);
  const tools = el("div", { class: "tools" }, crumbs,
    button("zoom out", "\u2212", () => zoom(1 / 1.4)), button("zoom in", "+", () => zoom(1.4)), button("whole graph", "Fit", fit));
  const frame = el("div", { class: "canvas" }, picture);
  const root = el("section", { class: "graph", "aria-label": title }, tools, frame);

  const width = () => frame.clientWidth || 600;
  const height = () => frame.clientHeight || 400;

  function bounds() {
    const [x0, y0, x1, y1] = figure.extent;
    return figure.boxes.length ? [x0 - 16, y0 - 16, x1 + 16, y1 + 16] : [0, 0, 100, 100];
  }

  function fit() {
    const [x0, y0, x1, y1] = bounds();
    scale = Math.max(SMALLEST, Math.min(1.25, width() / (x1 - x0), height() / (y1 - y0)));
    left = (x0 + x1) / 2 - width() / 2 / scale;
    top = (y0 + y1) / 2 - height() / 2 / scale;
    later();
  }

  /** The whole graph where its letters can be read; else its beginning. */
  function begin() {
    fit();
    const [x0, y0, x1] = bounds();
    if (scale >= 0.5) return;
    scale = Math.max(0.5, Math.min(1, width() / (x1 - x0)));
    top = y0;
    left = (x0 + x1) / 2 - width() / 2 / scale;
    if (x1 - x0 > width() / scale && figure.boxes.length) left = figure.boxes[0][3] - width() / 2 / scale;
    later();
  }

  function zoom(by, x = width() / 2, y = height() / 2) {
    const old = scale;
    scale = Math.max(SMALLEST, Math.min(LARGEST, scale * by));
    left += x / old - x / scale;
    top += y / old - y / scale;
    later();
  }

  function later() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; paint(); });
  }

  function curve(points) {
    let path = `M${points[0]} ${points[1]}`;
    for (let i = 2; i < points.length; i += 2) {
      const [x0, y0, x, y] = points.slice(i - 2, i + 2);
      const end = i === points.length - 2 ? y - 7 : y;
      path += (i / 2) % 2 ? `C${x0} ${(y0 + y) / 2} ${x} ${(y0 + y) / 2} ${x} ${end}` : `L${x} ${end}`;
    }
    return path;
  }

  function paint() {
    const [x0, y0] = [left, top], [x1, y1] = [left + width() / scale, top + height() / scale];
    const inSight = ([, , , x, y, w]) => x + w / 2 >= x0 && x - w / 2 <= x1 && y + 30 >= y0 && y - 30 <= y1;
    const parts = [];
    for (const [a, b, c, d, x, y, label] of figure.frames) {
      parts.push(draw("rect", { class: "frame", x: a, y: b, width: c - a, height: d - b, rx: 12 }));
      if (scale >= NEAR) parts.push(draw("text", { class: "frame-label", x, y }, label));
    }
    if (scale < NEAR) parts.push(...outlines(inSight));
    else parts.push(...closely(inSight, y0, y1));
    scene.replaceChildren(...parts);
    scene.setAttribute("transform", `scale(${scale}) translate(${-left} ${-top})`);
  }

  function closely(inSight, y0, y1) {
    const lines = [], tips = [];
    for (const [, , points] of figure.edges) {
      if (points[points.length - 1] < y0 || points[1] > y1) continue;
      lines.push(curve(points));
      tips.push(`M${points[points.length - 2]} ${points[points.length - 1]}l-4.5 -8h9z`);
    }
    const parts = [draw("path", { class: "edge", d: lines.join("") }), draw("path", { class: "tip", d: tips.join("") })];
    figure.boxes.forEach((box, number) => { if (inSight(box)) parts.push(drawn(box, number)); });
    return parts;
  }

  function drawn([label, told, role, x, y, w, inside], number) {
    const mark = [number === chosen ? "chosen" : "", found.has(number) ? "found" : "", inside >= 0 ? "opens" : ""].join(" ");
    return draw("g", { class: `box ${role} ${mark}`, "data-box": number },
      draw("rect", { x: x - w / 2, y: y - BOX_HEIGHT / 2, width: w, height: BOX_HEIGHT, rx: 7 }),
      draw("text", { x, y: y - 4 }, label), draw("text", { class: "kind", x, y: y + 13 }, told));
  }

  /** From afar: a path for all boxes of a role, and one for the arrows. */
  function outlines(inSight) {
    const roles = new Map();
    figure.boxes.forEach((box, number) => {
      if (!inSight(box)) return;
      const role = number === chosen ? "chosen" : found.has(number) ? "found" : box[2];
      if (!roles.has(role)) roles.set(role, []);
      roles.get(role).push(`M${box[3] - box[5] / 2} ${box[4] - BOX_HEIGHT / 2}h${box[5]}v${BOX_HEIGHT}h${-box[5]}z`);
    });
    const lines = figure.edges.map(([, , p]) => {
      let path = `M${p[0]} ${p[1]}`;
      for (let i = 2; i < p.length; i += 2) path += `L${p[i]} ${p[i + 1]}`;
      return path;
    });
    return [draw("path", { class: "edge far", d: lines.join("") }),
      ...[...roles].map(([role, paths]) => draw("path", { class: `outline ${role}`, d: paths.join("") }))];
  }

  function choose(number, into = true) {
    chosen = number;
    if (into && number >= 0) reveal(number);
    later();
    if (number >= 0) select(figure.boxes[number], figure, number, { open: () => enter(number), go: choose });
  }

  function reveal(number) {
    const [, , , x, y, w] = figure.boxes[number];
    if (scale < NEAR) scale = 0.8;
    const [wide, high] = [width() / scale, height() / scale];
    if (x - w / 2 < left || x + w / 2 > left + wide) left = x - wide / 2;
    if (y - 40 < top || y + 40 > top + high) top = y - high / 2;
  }

  function enter(number) {
    const inside = figure.boxes[number][6];
    if (inside >= 0) { trail.push(inside); change(); }
  }

  function change(box = -1) {
    figure = figures[trail[trail.length - 1]];
    chosen = -1;
    found = new Set();
    crumbs.replaceChildren(...trail.flatMap((n, i) => {
      const label = i ? figures[n].title : title;
      const here = i === trail.length - 1;
      return [i ? el("span", { "aria-hidden": "true" }, " \u203a ") : "",
        here ? el("b", {}, name(label), figures[n].layers ? ` (${count(figures[n].layers, "layer")})` : "")
          : el("button", { type: "button", onclick: () => { trail.length = i + 1; change(); } }, name(label))];
    }));
    begin();
    if (box >= 0) choose(box);
  }

  const pointers = new Map();
  let moved = 0;
  picture.addEventListener("pointerdown", (event) => { pointers.set(event.pointerId, [event.clientX, event.clientY]); moved = 0; });
  picture.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = [event.clientX, event.clientY];
    if (pointers.size === 2) pinch(event.pointerId, before, now);
    else { left -= (now[0] - before[0]) / scale; top -= (now[1] - before[1]) / scale; }
    moved += Math.abs(now[0] - before[0]) + Math.abs(now[1] - before[1]);
    if (moved > 4 && !picture.hasPointerCapture(event.pointerId)) picture.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, now);
    later();
  });
  const release = (event) => pointers.delete(event.pointerId);
  picture.addEventListener("pointerup", release);
  picture.addEventListener("pointercancel", release);
  picture.addEventListener("pointerleave", (event) => { if (!picture.hasPointerCapture(event.pointerId)) release(event); });
  picture.addEventListener("click", (event) => {
    const box = event.target.closest("[data-box]");
    if (box && moved <= 4) choose(Number(box.dataset.box), false);
  });
  picture.addEventListener("dblclick", (event) => {
    const box = event.target.closest("[data-box]");
    if (box) enter(Number(box.dataset.box));
  });

  function pinch(id, before, now) {
    const [other] = [...pointers].filter(([key]) => key !== id).map(([, place]) => place);
    const apart = ([x, y]) => Math.hypot(x - other[0], y - other[1]) || 1;
    const box = picture.getBoundingClientRect();
    zoom(apart(now) / apart(before), (now[0] + other[0]) / 2 - box.left, (now[1] + other[1]) / 2 - box.top);
  }

  picture.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== picture) return; // the page scrolls
    event.preventDefault();
    const box = picture.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), event.clientX - box.left, event.clientY - box.top);
  }, { passive: false });

  picture.addEventListener("keydown", (event) => {
    const steps = { ArrowDown: below, ArrowUp: above, ArrowLeft: () => beside(-1), ArrowRight: () => beside(1), Home: () => 0, End: () => figure.boxes.length - 1 };
    if (event.key === "+" || event.key === "=") zoom(1.4);
    else if (event.key === "-") zoom(1 / 1.4);
    else if (event.key === "0") fit();
    else if (event.key === "Enter" && chosen >= 0) enter(chosen);
    else if ((event.key === "Backspace" || event.key === "Escape") && trail.length > 1) { trail.pop(); change(); }
    else if (event.key in steps) {
      const next = chosen < 0 ? 0 : steps[event.key]();
      if (next !== undefined) choose(next);
    } else return;
    event.preventDefault();
  });
  const below = () => figure.edges.find(([start]) => start === chosen)?.[1];
  const above = () => figure.edges.find(([, end]) => end === chosen)?.[0];

  function beside(direction) {
    const [, , , x, y] = figure.boxes[chosen];
    let best;
    figure.boxes.forEach(([, , , bx, by], number) => {
      const away = (bx - x) * direction;
      if (by === y && away > 0 && (best === undefined || away < (figure.boxes[best][3] - x) * direction)) best = number;
    });
    return best;
  }

  let size = "";
  new ResizeObserver(() => {
    const now = `${width()} ${height()}`;
    if (now !== size) { size = now; begin(); }
  }).observe(frame);
  change();
  return {
    root,
    picture,
    show: (number, box) => { trail.splice(0, trail.length, ...(route(figures, at, (n) => n === number) ?? [at, number])); change(box); },
    find: (words) => {
      const counts = new Map();
      found = new Set();
      let all = 0;
      if (words) {
        const inside = figure.boxes.map((box) => fits(box, words) + (box[6] < 0 ? 0 : fitting(figures, box[6], words, counts)));
        inside.forEach((n, number) => { if (n) found.add(number); });
        all = figure.boxes.filter((box) => fits(box, words)).length + [...counts.values()].reduce((a, b) => a + b, 0);
      }
      later();
      return all;
    },
    first: () => { const [number] = found; if (number !== undefined) { choose(number); picture.focus({ preventScroll: true }); } },
  };
}

/** The figures on the way to the first that fits, from the outermost inwards; null where none does. */
function route(figures, at, fitsFigure) {
  const waiting = [[at]], met = new Set();
  for (const path of waiting) {
    const here = path[path.length - 1];
    if (fitsFigure(here)) return path;
    if (met.has(here)) continue;
    met.add(here);
    new Set(figures[here].boxes.map((box) => box[6])).forEach((n) => { if (n >= 0) waiting.push([...path, n]); });
  }
  return null;
}

/** The way to the outermost figure with a wrapper; a graph without one is shown from the outside. */
function toWrapper(figures, at) {
  return route(figures, at, (n) => figures[n].frames.length > 0) ?? [at];
}

/** Whether a box is called so, or is of such a class. */
function fits(box, words) {
  return `${box[8]} ${box[1]}`.toLowerCase().includes(words);
}

/** How many boxes fit in a figure and in those inside of it; `counts` has the figures' own, each once. */
function fitting(figures, at, words, counts) {
  if (!counts.has(at)) counts.set(at, figures[at].boxes.filter((box) => fits(box, words)).length);
  const inside = [...new Set(figures[at].boxes.map((box) => box[6]).filter((n) => n >= 0))];
  return inside.reduce((sum, n) => sum + fitting(figures, n, words, counts), counts.get(at));
}

/** The colours and what they mean, of the roles that some figures show. */
function legend(meanings, figures) {
  const roles = new Set(figures.flatMap((figure) => figure.boxes.map((box) => box[2])));
  return el("ul", { class: "legend" }, Object.entries(meanings).filter(([role]) => roles.has(role)).map(([role, meaning]) =>
    el("li", {}, append(draw("svg", { class: "key", viewBox: "0 0 18 14", "aria-hidden": "true" }), [draw("g", { class: `box ${role}` }, draw("rect", { x: 1, y: 1, width: 16, height: 12, rx: 3 }))]), meaning)));
}
