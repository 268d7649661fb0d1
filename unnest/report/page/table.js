// A table of any length: TanStack Table sorts and filters, and only the rows in sight are in the page.

const ROW_HEIGHT = 36, ROWS_BEYOND = 8;

/**
 * columns: {id, title, value(row), cell(row) -> children, number, wide, minor, sort}
 * Returns {root, refresh, rows()}: refresh filters and sorts anew, rows() are those shown in order.
 */
function dataTable({ label, columns, rows, open, keep = () => true, empty = "Nothing fits." }) {
  const { createTable, getCoreRowModel, getSortedRowModel, getFilteredRowModel } = TableCore;
  let state = { sorting: [], globalFilter: 0 };
  const table = createTable({
    data: rows,
    columns: columns.map((c) => ({ id: c.id, accessorFn: c.value, sortingFn: c.number ? "basic" : "alphanumeric", sortDescFirst: false })),
    state: {},
    onStateChange: (change) => {
      state = typeof change === "function" ? change(state) : change;
      table.setOptions((options) => ({ ...options, state }));
    },
    getCoreRowModel: getCoreRowModel(),
    getSortedRowModel: getSortedRowModel(),
    getFilteredRowModel: getFilteredRowModel(),
    globalFilterFn: (row) => keep(row.original),
    getColumnCanGlobalFilter: (column) => column.id === columns[0].id,
    renderFallbackValue: null,
    autoResetAll: false,
  });
  state = { ...table.initialState, ...state };
  table.setOptions((options) => ({ ...options, state }));

  const heads = columns.map((c) => {
    const button = el("button", { type: "button" }, c.title);
    button.addEventListener("click", () => { table.getColumn(c.id).toggleSorting(undefined, false); refresh(); });
    return el("th", { scope: "col", class: classes(c) }, button);
  });
  const body = el("tbody");
  const grid = el("table", { "aria-label": label, class: "data" },
    el("thead", {}, el("tr", { "aria-rowindex": 1 }, heads)), body);
  const root = el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, grid);
  let shown = [], focused = -1, first = -1, last = -1;

  function classes(column) {
    return [column === columns[0] && !column.wide ? "first" : "", column.number ? "number" : "", column.wide ? "wide" : "", column.minor ? "minor" : "", column.path ? "path" : ""].filter(Boolean).join(" ");
  }

  function space(rowsAway) {
    const gap = el("tr", { "aria-hidden": "true", class: "gap" }, el("td"));
    gap.firstChild.style.height = `${rowsAway * ROW_HEIGHT}px`;
    return gap;
  }

  function line(row, index) {
    const cells = columns.map((c, i) => {
      const content = c.cell ? c.cell(row) : [name(c.value(row) ?? "")];
      const inner = i === 0 && open ? el("button", { type: "button", class: "open", "data-row": index, onclick: () => { focused = index; open(row); } }, content) : content;
      return el("td", { class: classes(c), title: typeof c.value(row) === "string" ? plain(c.value(row)).slice(0, 400) : null }, inner);
    });
    const made = el("tr", { "aria-rowindex": index + 2 }, cells);
    if (open) made.addEventListener("click", (event) => { if (!event.target.closest("button, a")) { focused = index; open(row); } });
    return made;
  }

  function paint(force) {
    const height = root.clientHeight || 600;
    const from = Math.max(0, Math.floor(root.scrollTop / ROW_HEIGHT) - ROWS_BEYOND);
    const to = Math.min(shown.length, Math.ceil((root.scrollTop + height) / ROW_HEIGHT) + ROWS_BEYOND);
    if (!force && from === first && to === last) return;
    const held = body.contains(document.activeElement);
    [first, last] = [from, to];
    const made = [];
    if (from) made.push(space(from));
    for (let i = from; i < to; i += 1) made.push(line(shown[i], i));
    if (to < shown.length) made.push(space(shown.length - to));
    if (!shown.length) made.push(el("tr", {}, el("td", { class: "none" }, empty)));
    body.replaceChildren(...made);
    if (held) body.querySelector(`button[data-row="${focused}"]`)?.focus({ preventScroll: true });
  }

  function refresh() {
    table.setGlobalFilter(state.globalFilter + 1); // any other value: `keep` decides anew
    shown = table.getRowModel().rows.map((row) => row.original);
    columns.forEach((c, i) => {
      const sorted = table.getColumn(c.id).getIsSorted();
      if (sorted) heads[i].setAttribute("aria-sort", sorted === "desc" ? "descending" : "ascending");
      else heads[i].removeAttribute("aria-sort");
    });
    grid.setAttribute("aria-rowcount", shown.length + 1);
    root.scrollTop = 0;
    paint(true);
  }

  function go(index) {
    focused = Math.max(0, Math.min(shown.length - 1, index));
    const top = focused * ROW_HEIGHT, inside = root.clientHeight - 2 * ROW_HEIGHT;
    if (top < root.scrollTop) root.scrollTop = top;
    else if (top > root.scrollTop + inside) root.scrollTop = top - inside;
    paint(true);
    body.querySelector(`button[data-row="${focused}"]`)?.focus({ preventScroll: true });
  }

  root.addEventListener("keydown", (event) => {
    const page = Math.max(1, Math.floor(root.clientHeight / ROW_HEIGHT) - 2);
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (!open || !(event.key in moves) || !shown.length) return;
    event.preventDefault();
    const here = document.activeElement?.dataset?.row;
    go(here === undefined ? Math.max(focused, 0) : Number(here) + moves[event.key]);
  });
  root.addEventListener("scroll", () => paint(false), { passive: true });
  new ResizeObserver(() => paint(true)).observe(root);
  return { root, refresh, rows: () => shown };
}
