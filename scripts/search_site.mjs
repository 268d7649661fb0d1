// Search a built site as a reader does: node scripts/search_site.mjs SITE QUERY...
//
// Runs the site's own search, the worker that Material puts beside its pages and the site's change to what that is sent,
// and prints one JSON object a query: the addresses of the pages that are found, best first.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import vm from "node:vm";

const [site, ...queries] = process.argv.slice(2);
const workers = join(site, "assets/javascripts/workers");
const worker = readdirSync(workers).find((name) => /^search\..*\.js$/.test(name));
const index = JSON.parse(readFileSync(join(site, "search/search_index.json"), "utf8"));

let receive;
const answers = [];
const scope = {
  addEventListener: (_, listener) => (receive = listener),
  postMessage: (message) => answers.push(message),
  console,
};
scope.self = scope;
vm.runInNewContext(readFileSync(join(workers, worker), "utf8"), scope);

class Worker {
  postMessage(message) {
    return receive({ data: message });
  }
}
vm.runInNewContext(readFileSync(join(site, "search-options.js"), "utf8"), { Worker });
const page = new Worker();

await page.postMessage({ type: 0, data: { ...index, options: { suggest: true } } });
for (const query of queries) {
  answers.length = 0;
  await page.postMessage({ type: 2, data: query });
  const pages = answers[0].data.items.map((sections) => sections[0].location.split("#")[0] || "index");
  console.log(JSON.stringify({ query, pages: [...new Set(pages)] }));
}
