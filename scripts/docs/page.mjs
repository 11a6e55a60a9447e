import { dirname, relative } from "node:path";
import { GROUPS } from "./pages.mjs";

const escaped = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

/** A whole page: search, navigation, content. It loads only files that lie beside it. */
export function pageHtml(page, pages) {
  const up = (file) => relative(dirname(page.file), file) || file;
  const groups = GROUPS.map(([folder, title]) => {
    const items = pages
      .filter(({ group }) => group === folder)
      .map((one) => {
        const here = one.file === page.file ? ' aria-current="page"' : "";
        return `<li><a href="${up(one.file)}"${here}>${escaped(one.title)}</a></li>`;
      });
    return `<h2>${title}</h2><ul>${items.join("")}</ul>`;
  });
  return `<!doctype html>
<html lang="en" data-top="${up("index.html").replace(/index\.html$/, "")}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(page.title)}${page.file === "index.html" ? "" : " · HERMES"}</title>
<link rel="stylesheet" href="${up("style.css")}">
<link rel="icon" href="data:,">
</head>
<body>
<header>
<a class="name" href="${up("index.html")}">HERMES</a>
<input type="search" id="search" placeholder="Search ( / )" aria-label="Search the documents" autocomplete="off">
<ol id="found" aria-live="polite" hidden></ol>
</header>
<nav aria-label="Documents"><details open><summary>Documents</summary>${groups.join("")}</details></nav>
<main>${page.html}</main>
<script src="${up("search-index.js")}"></script>
<script src="${up("search.js")}"></script>
</body>
</html>
`;
}
