import { describe, expect, it } from "vitest";
import { approvalOf } from "../../../src/people/approval/approval-item.js";
import { Audit } from "../../../src/record/audit/audit.js";
import { openStore } from "../../../src/record/store/open.js";
import { makePlace } from "../../agents/tools/place.js";
import { until } from "../../support/until.js";
import { asks, openSession, request } from "../approval/support.js";
import { ask, serve, useBrowser, visit } from "./support.js";

const SESSIONS = 50;
const RECORDS = 200;
const PENDING = 200;
const PAGES = 3;
/** Of the whole process; it starts with about a third of it. */
const MEMORY = 350 * 2 ** 20;

useBrowser();

describe("fifty sessions at once, and two hundred questions", () => {
  it("leave the page usable, and the server's memory bounded", async () => {
    const place = makePlace();
    const console = await serve(place);
    const store = await openStore(place.store);
    const audit = Audit.open(store);
    const { page, trouble } = await visit(console.links.alice!);
    await page.getByText("Nothing waits for an answer.").waitFor();
    const others = [await visit(console.links.anna!), await visit(console.links.victor!)];
    for (const one of others) await one.page.getByRole("link", { name: "Audit" }).click();
    expect(others).toHaveLength(PAGES - 1);

    const ids = Array.from({ length: SESSIONS }, (_, i) => `session-${i}`);
    for (const id of ids) await openSession(store, id, place.workspace);
    const now = Date.now();
    const streaming = ids.map(async (session, s) => {
      for (let i = 0; i < PENDING / SESSIONS; i++) {
        const n = s * (PENDING / SESSIONS) + i;
        const detail = { diff: `+${"x".repeat(15_000)}` };
        const asked = request({
          session,
          what: `deploy ${n}`,
          digest: `d${n}`,
          findings: [asks("deploy")],
          detail,
        });
        await store.park(approvalOf(asked, n.toString(16).padStart(16, "0"), now + n, now + 3_600_000));
      }
      for (let i = 0; i < RECORDS; i++)
        await audit.record(
          "outcome",
          { id: `${session}-${i}`, status: "DONE", reason: "x".repeat(500) },
          { session },
        );
    });
    await page.locator(".item").nth(20).waitFor({ state: "attached" });
    // While all of them write: something is looked at, and answered.
    await page.locator(".item").nth(10).click();
    const what = await page.locator(".detail .asked").innerText();
    await page.locator('.detail [data-answer="no"]').click();
    await page.locator(".settled", { hasText: what.trim() }).waitFor();
    await Promise.all(streaming);

    const numbers = await until(async () => {
      const { body } = await ask(console, "GET", "/metrics");
      return body.includes(`hermes_outcomes_total{status="DONE"} ${SESSIONS * RECORDS}\n`)
        ? (body as string)
        : undefined;
    });
    const value = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, "m").exec(numbers)![1]);
    expect(value("hermes_approvals_pending")).toBe(PENDING - 1);
    expect(value("hermes_sessions_open")).toBe(SESSIONS);
    expect(value("hermes_console_pages")).toBe(PAGES);
    expect(value("process_resident_memory_bytes")).toBeLessThan(MEMORY);
    await page.waitForFunction(`document.title === "(${PENDING - 1}) HERMES"`);
    expect(trouble).toEqual([]);
    audit.close();
    await store.close();
  });
});
