#!/usr/bin/env node
// Builds the documents as a site of plain HTML: searchable, without a server and without requests to other hosts.
//   npm run docs              writes build/docs; open build/docs/index.html
//   npm run docs -- FOLDER    writes FOLDER
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { pageHtml } from "./docs/page.mjs";
import { readPages } from "./docs/pages.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const LOOK = ["style.css", "search.js"];

const out = resolve(process.argv[2] ?? join(root, "build/docs"));
const pages = readPages(root);
for (const page of pages) {
  const file = join(out, page.file);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, pageHtml(page, pages));
}
for (const name of LOOK) cpSync(join(root, "scripts/docs", name), join(out, name));
cpSync(join(root, "docs/images"), join(out, "images"), { recursive: true });
// A script, not JSON: a page that is opened as a file may not fetch others.
const sections = pages.flatMap((page) => page.sections.map((section) => ({ page: page.title, ...section })));
writeFileSync(join(out, "search-index.js"), `window.SECTIONS = ${JSON.stringify(sections)};\n`);
process.stdout.write(`${pages.length} pages: ${relative(process.cwd(), join(out, "index.html"))}\n`);
