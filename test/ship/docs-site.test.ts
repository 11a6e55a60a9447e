import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../support/root.js";

let folder: string;
let browser: Browser;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "hermes-docs-site-"));
  execFileSync(process.execPath, [join(root, "scripts/docs.mjs"), folder], { stdio: "pipe" });
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
});
afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function open(file: string, width = 1200): Promise<{ page: Page; requests: string[] }> {
  const page = await browser.newPage({ viewport: { width, height: 800 } });
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  await page.goto(`file://${join(folder, file)}`);
  return { page, requests };
}

describe("the site of the documents", () => {
  it("leads from search to the section", async () => {
    const { page } = await open("index.html");
    await page.keyboard.press("/");
    await page.keyboard.type("private keys path");
    await page.locator("#found a").first().click();
    expect(page.url()).toContain(".html");
    await page.close();
  });

  it("says so when nothing is found", async () => {
    const { page } = await open("reference/yaml.html");
    await page.fill("#search", "zebra-crossing");
    expect(await page.locator("#found").innerText()).toContain("Nothing found");
    await page.close();
  });

  it.each([1200, 375])("loads nothing from other hosts and fits into %i pixels", async (width) => {
    for (const file of ["index.html", "explanation/performance.html", "reference/command-line.html"]) {
      const { page, requests } = await open(file, width);
      expect(requests.filter((url) => !url.startsWith("file://") && !url.startsWith("data:"))).toEqual([]);
      expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
      await page.close();
    }
  });

  it("has every page in its navigation, and the one that is read is marked", async () => {
    const { page } = await open("how-to/hooks.html");
    expect(await page.locator("nav a").count()).toBeGreaterThan(40);
    expect(await page.locator("nav [aria-current=page]").innerText()).toBe("Hooks of other agents");
    await page.close();
  });
});
