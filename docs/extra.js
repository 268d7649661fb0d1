// An option is not broken behind its hyphens.
for (const code of document.querySelectorAll("article :not(pre) > code")) {
  const words = code.textContent.split(/(\S*-\S+)/);
  if (code.children.length || words.length === 1) continue;
  code.replaceChildren(
    ...words.map((text) => {
      if (!text.includes("-") || text.length > 30) return text;
      const word = document.createElement("span");
      word.className = "word";
      word.textContent = text;
      return word;
    }),
  );
}
// For a keyboard and a screen reader: the search has a name, a table that scrolls can be reached.
document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
// The theme wraps tables when it gets to it, before the page has loaded or after.
const reachTables = () => {
  for (const table of document.querySelectorAll(".md-typeset__scrollwrap")) table.tabIndex = 0;
};
reachTables();
new MutationObserver(reachTables).observe(document.querySelector("article"), { childList: true, subtree: true });
