import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { Marked } from "marked";

/** Folders of docs/ as readers see them, in their order. */
export const GROUPS = [
  ["", "Start"],
  ["tutorials", "Tutorials"],
  ["how-to", "How to"],
  ["reference", "Reference"],
  ["explanation", "Explanation"],
];

/** Pages of the root that belong to the site, and where they go. */
const OF_ROOT = {
  "README.md": "index.html",
  "SECURITY.md": "explanation/security.html",
  "ARCHITECTURE.md": "explanation/architecture.html",
  "CHANGELOG.md": "reference/changelog.html",
};

/** All pages: where their HTML goes, their title, content, and sections to search. */
export function readPages(root) {
  const sources = [
    ...Object.keys(OF_ROOT),
    ...readdirSync(join(root, "docs"), { recursive: true })
      .map((name) => `docs/${name}`)
      .filter((name) => name.endsWith(".md") && name !== "docs/README.md")
      .sort(),
  ];
  const fileOf = (source) => OF_ROOT[source] ?? source.replace(/^docs\//, "").replace(/\.md$/, ".html");
  const files = new Map(sources.map((source) => [source, fileOf(source)]));
  // The index of docs/ is the navigation of every page.
  files.set("docs/README.md", "index.html");
  return sources.map((source) => readPage(root, source, files));
}

function readPage(root, source, files) {
  const file = files.get(source);
  const sections = [];
  const used = new Map();
  const marked = new Marked({ gfm: true });
  marked.use({
    renderer: {
      heading({ tokens, depth, text }) {
        const id = unique(slug(text), used);
        sections.push({ title: plain(text), url: `${file}#${id}`, text: "" });
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const content = this.parser.parseInline(tokens);
        const target = linkTarget(href, { root, source, file, files });
        return target === undefined ? content : `<a href="${target}">${content}</a>`;
      },
      image({ href, text }) {
        const image = normalize(join(dirname(source), href)).replace(/^docs\//, "");
        return `<img src="${relative(dirname(file), image)}" alt="${text.replaceAll('"', "&quot;")}">`;
      },
      table({ header, rows }) {
        const cell = (tag) => (one) => `<${tag}>${this.parser.parseInline(one.tokens)}</${tag}>`;
        const head = `<tr>${header.map(cell("th")).join("")}</tr>`;
        const body = rows.map((row) => `<tr>${row.map(cell("td")).join("")}</tr>`).join("");
        return `<div class="table"><table><thead>${head}</thead><tbody>${body}</tbody></table></div>`;
      },
    },
  });
  const text = readFileSync(join(root, source), "utf8");
  const html = marked.parse(text);
  fillSections(marked.lexer(text), sections);
  return {
    source,
    file,
    title: sections[0].title,
    group: dirname(file) === "." ? "" : dirname(file),
    html,
    sections,
  };
}

/** Gives each section the words between its heading and the next one. */
function fillSections(tokens, sections) {
  let at = -1;
  for (const token of tokens) {
    if (token.type === "heading") at++;
    else if (at >= 0) sections[at].text += ` ${plain(token.raw)}`;
  }
}

/** Pages of the site become links to their HTML; other files of the repository are no links here. */
function linkTarget(href, { root, source, file, files }) {
  if (/^[a-z]+:/.test(href) || href.startsWith("#")) return href;
  const [path, heading] = href.split("#");
  const target = normalize(join(dirname(source), path));
  const page = files.get(target);
  if (page !== undefined)
    return `${relative(dirname(file), page) || "index.html"}${heading ? `#${heading}` : ""}`;
  if (!existsSync(join(root, target))) throw new Error(`${source}: no such file: ${href}`);
  return undefined;
}

function plain(text) {
  return text
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[`*|]+/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}

/** As GitHub names headings, so that links work there and here. */
function slug(text) {
  return plain(text.replaceAll("`", ""))
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");
}

function unique(id, used) {
  const before = used.get(id) ?? 0;
  used.set(id, before + 1);
  return before === 0 ? id : `${id}-${before}`;
}
