import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { DOCUMENTS } from "./support/documents.js";
import { root } from "./support/root.js";

const PAGES = [
  ...DOCUMENTS,
  "ARCHITECTURE.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "src/abi/README.md",
];
const read = (page: string) => readFileSync(join(root, page), "utf8");

/** Links to other pages and files of ours, outside of code. */
function links(page: string): { path: string; heading?: string }[] {
  const prose = read(page)
    .replace(/^```[\s\S]*?^```/gm, "")
    .replace(/`[^`\n]*`/g, "");
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target!)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path, heading] = target.split("#");
      return { path: path === "" ? page : join(dirname(page), path!), ...(heading ? { heading } : {}) };
    });
}

/** The names by which GitHub reaches the headings of a page. */
function headings(page: string): string[] {
  return [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, text]) =>
    text!
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

describe("every link in the documents", () => {
  it.each(PAGES)("leads somewhere: %s", (page) => {
    const broken = links(page).filter(
      ({ path, heading }) =>
        !existsSync(join(root, path)) || (heading !== undefined && !headings(path).includes(heading)),
    );
    expect(broken).toEqual([]);
  });

  it("can be reached from docs/README.md", () => {
    const reached = new Set(links("docs/README.md").map(({ path }) => path));
    expect(
      DOCUMENTS.filter((page) => page.startsWith("docs/") && page !== "docs/README.md" && !reached.has(page)),
    ).toEqual([]);
  });
});

describe("the README", () => {
  it("takes three minutes to read", () => {
    const words = read("README.md")
      .replace(/^```[\s\S]*?^```/gm, "")
      .split(/\s+/).length;
    expect(words).toBeLessThanOrEqual(700);
  });
});
