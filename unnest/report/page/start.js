// The page is made of its data.

const DATA = JSON.parse(document.getElementById("data").textContent);
const many = DATA.rows.length !== 1;
const single = () => {
  const row = DATA.rows[0], entry = { ...DATA.defaults, ...row.entry };
  return [el("p", { class: "subtitle" }, badge(row.state, DATA.states[row.state]), " ", subtitle(entry)), cards(row, entry)];
};
append(document.getElementById("page"), many ? rowsPage(DATA) : DATA.model ? modelPage(DATA) : single());
append(document.body, [el("footer", {}, el("p", { class: "dim" }, `Made by unnest ${DATA.version}. The table is TanStack Table, MIT licence, whose text is in this page. The page loads nothing from anywhere.`))]);
