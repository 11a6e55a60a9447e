import { beforeEach, describe, expect, it } from "vitest";
import { makePlace, type Place, toolboxIn } from "../../agents/tools/place.js";
import { axeFindings, unreadable } from "./readable.js";
import { serve, useBrowser, visit } from "./support.js";

useBrowser();
let place: Place;
beforeEach(() => {
  place = makePlace();
});

const VIEWS = ["approvals", "sessions", "policies", "audit", "guard", "analysis", "skills"];

describe.each([
  ["on a desk, light", { width: 1280, dark: false }],
  ["on a desk, dark", { width: 1280, dark: true }],
  ["on a phone, light", { width: 375, dark: false }],
  ["on a phone, dark", { width: 375, dark: true }],
])("the console %s", (_, size) => {
  it("can be read everywhere: contrast, one heading, no wider than the screen, names for all controls", async () => {
    const console = await serve(place);
    const toolbox = await toolboxIn(place);
    await toolbox.call("terminal_exec", { command: "mkfs.ext4 /dev/sda" });
    void toolbox.call("terminal_exec", { command: "rm -rf data" });
    void toolbox.call("terminal_exec", { command: "rm -rf other" });
    const { page, trouble } = await visit(console.links.alice!, size);
    await page.locator(".item").first().waitFor();
    const tabs = await page
      .locator("nav .tab")
      .evaluateAll((all) => all.map((tab) => tab.getAttribute("href")!));
    expect(tabs.length).toBe(VIEWS.length);
    const found: string[] = [];
    for (const tab of tabs) {
      await page.locator(`nav .tab[href="${tab}"]`).click();
      await page.locator(`nav .tab.here[href="${tab}"]`).waitFor();
      if (tab === "#audit") {
        await page.locator(".records .item").first().click();
        await page.locator(".detail[data-seq]").waitFor();
      }
      expect(await unreadable(page), tab).toEqual([]);
      for (const one of await axeFindings(page)) found.push(`${tab} ${one}`);
    }
    expect(found).toEqual([]);
    expect(trouble).toEqual([]);
  });
});

describe("what changes by itself", () => {
  it("is said to those who hear the page", async () => {
    const console = await serve(place);
    const toolbox = await toolboxIn(place);
    const { page } = await visit(console.links.alice!);
    const heard = page.locator('.heard[role="status"][aria-live="polite"]');
    await heard.filter({ hasText: "No question waits." }).waitFor({ state: "attached" });
    void toolbox.call("terminal_exec", { command: "rm -rf data" });
    await heard.filter({ hasText: "1 question to be answered." }).waitFor({ state: "attached" });
    expect(await page.locator("nav [aria-current=page]").count()).toBe(1);
  });
});

describe("the keys of Audit", () => {
  it("are j and k: from one record to the next and back, and none is left out", async () => {
    const console = await serve(place);
    const toolbox = await toolboxIn(place);
    for (const word of ["one", "two", "three"])
      await toolbox.call("terminal_exec", { command: `echo ${word}` });
    const { page } = await visit(console.links.victor!);
    await page.locator('nav .tab[href="#audit"]').click();
    const rows = page.locator(".records .item");
    await rows.nth(3).waitFor();
    const ids = await rows.evaluateAll((all) => all.map((row) => row.getAttribute("data-id")!));
    const press = async (key: string, at: number) => {
      await page.keyboard.press(key);
      await page.locator(`.audit .detail[data-seq="${ids[at]!.split(" ")[0]}"]`).waitFor();
      expect(await page.locator(".records .item[aria-current=true]").getAttribute("data-id")).toBe(ids[at]);
    };
    for (const [key, at] of [
      ["j", 0],
      ["j", 1],
      ["ArrowDown", 2],
      ["k", 1],
      ["ArrowUp", 0],
      ["k", 0],
    ] as const)
      await press(key, at);
    // In the search, it is a letter.
    await page.getByLabel("search records").fill("");
    await page.getByLabel("search records").press("j");
    expect(await page.getByLabel("search records").inputValue()).toBe("j");
  });
});
