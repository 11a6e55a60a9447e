import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ask as askFor, definePolicy, start } from "hermes-runtime";
import type { Page } from "playwright-core";
import { beforeEach, describe, expect, it } from "vitest";
import { AnswerService } from "../../../src/people/approval/answer-service.js";
import { approvalOf } from "../../../src/people/approval/approval-item.js";
import { askThroughQueue } from "../../../src/people/approval/queue-questions.js";
import { openStore } from "../../../src/record/store/open.js";
import { makePlace, type Place, toolboxIn } from "../../agents/tools/place.js";
import { HERMES } from "../../support/cli.js";
import { asks, openSession, queueOf, request } from "../approval/support.js";
import { picture, serve, useBrowser, visit } from "./support.js";

const HOSTILE = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;

useBrowser();
let place: Place;
beforeEach(() => {
  place = makePlace();
  mkdirSync(join(place.workspace, "data/old"), { recursive: true });
});

/** What is selected is shown with everything that the server knows of it. */
const whole = (page: Page) => page.waitForSelector(".detail[data-whole]");
const items = (page: Page) => page.locator(".item");

describe("what an agent asks, in a browser", () => {
  it("is shown while it waits, and a click lets it go on", async () => {
    const console = await serve(place);
    const { page, trouble, requests } = await visit(console.links.alice!);
    await page.getByText("Nothing waits for an answer.").waitFor();
    expect(new URL(page.url()).hash).toBe("");

    const toolbox = await toolboxIn(place, { agent: "builder" });
    const call = toolbox.call("terminal_exec", { command: "rm -rf data && echo gone" });
    await items(page).waitFor();
    await whole(page);
    expect(await page.title()).toBe("(1) HERMES");
    const shown = await page.locator(".detail").innerText();
    for (const part of ["rm -rf data && echo gone", "recursive-delete", "builder", place.workspace])
      expect(shown).toContain(part);
    await picture(page, "approval");
    expect(existsSync(join(place.workspace, "data"))).toBe(true);

    await page.getByRole("button", { name: "Approve once" }).click();
    expect(await call).toMatchObject({
      status: "DONE",
      approvedBy: "console:alice",
      output: { stdout: "gone\n" },
    });
    await page.locator(".settled", { hasText: "by console:alice" }).waitFor();
    expect(await page.title()).toBe("HERMES");
    expect(trouble).toEqual([]);
    expect(requests.filter((one) => !one.startsWith(console.url))).toEqual([]);
  });

  it("at a system call: the program stands still until an approver answers", async () => {
    const console = await serve(place);
    const { page } = await visit(console.links.anna!);
    const store = await openStore(place.store);
    await openSession(store, "one", place.workspace);
    const desk = {
      store,
      folder: place.workspace,
      userFile: join(place.home, "hermes.yaml"),
      open: new Set<Promise<unknown>>(),
      close: async () => {},
    };
    const secret = place.write("workspace/secret", "told");
    const output = join(place.workspace, "output");
    const policy = definePolicy({
      name: "asking",
      actions: ["ask"],
      on: { openat: (e) => (e.path === secret ? askFor("A person decides.") : undefined) },
    });
    const session = await start(
      { command: ["sh", "-c", `cat ${secret} > ${output}`], policy, ask: { patience: 60_000 } },
      askThroughQueue(queueOf(desk).queue, { session: "one" }),
    );
    await items(page).waitFor();
    await whole(page);
    expect(await page.locator(".detail").innerText()).toContain("A person decides.");
    expect(await page.locator(".detail .part", { hasText: "process" }).innerText()).toContain(
      `cat ${secret}`,
    );
    expect(readFileSync(output, "utf8")).toBe("");
    await page.keyboard.press("k");
    await page.keyboard.press("y");
    await session.result;
    expect(readFileSync(output, "utf8")).toBe("told");
    await store.close();
  });

  it("of hermes run is answered there for always, and the answer is revoked there", async () => {
    const console = await serve(place);
    const { page } = await visit(console.links.anna!);
    const secret = place.write("workspace/secret", "told");
    const rule = `{ id: file, ask: read, path: ${secret}, reason: A person decides. }`;
    const policy = place.write("workspace/p.yaml", `name: asking\nrules: [${rule}]\n`);
    const run = () =>
      new Promise<string>((resolve) => {
        const words = ["run", "-q", "--ask", "queue", "-p", policy, "--", "cat", secret];
        const env = { ...process.env, HOME: place.home, HERMES_HOME: place.home, HERMES_STORE: place.store };
        execFile(HERMES, words, { cwd: place.workspace, env }, (_, stdout) => resolve(stdout));
      });
    const first = run();
    await items(page).waitFor();
    await whole(page);
    const shown = await page.locator(".detail").innerText();
    for (const part of [
      "asking/file",
      "A person decides.",
      "hermes run",
      "exactly this, wherever asking/file asks",
    ])
      expect(shown).toContain(part);
    // Not by one key, nor by Enter: what it covers is said first.
    await page.keyboard.press("j");
    await page.keyboard.press("a");
    const sure = page.getByRole("alert").filter({ hasText: "exactly this, wherever asking/file asks" });
    await sure.waitFor();
    await page.keyboard.press("Enter");
    await sure.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Always" }).click();
    await page.getByRole("button", { name: "Approve always" }).click();
    expect(await first).toBe("told");
    expect(await run()).toBe("told");
    await page.getByRole("button", { name: "Revoke" }).click();
    await page.getByText("revoked: it is asked again").waitFor();
    const again = run();
    await items(page).waitFor();
    await whole(page);
    await page.getByRole("button", { name: "Never" }).click();
    await page.getByRole("button", { name: "Refuse always" }).click();
    expect(await again).toBe("");
    expect(await run()).toBe("");
  });

  it("are filtered, grouped, and answered several at once, after a second look", async () => {
    const console = await serve(place);
    const toolbox = await toolboxIn(place);
    const calls = ["rm -rf data", "rm -rf other", "git reset --hard"].map((command) =>
      toolbox.call("terminal_exec", { command }),
    );
    const { page } = await visit(console.links.anna!);
    await items(page).nth(2).waitFor();
    await page.getByLabel("group questions by").selectOption("rule");
    expect(await page.locator(".list [role=group]").count()).toBe(2);
    await page.getByLabel("filter questions").fill("rm recursive");
    await items(page).nth(2).waitFor({ state: "detached" });
    expect(await items(page).count()).toBe(2);
    await page.getByRole("button", { name: "Refuse these 2 questions" }).click();
    // The focus is on Cancel: Enter answers nothing.
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Refuse these 2 questions" }).click();
    await page.getByRole("button", { name: "Yes, refuse all 2" }).click();
    const [one, two] = await Promise.all(calls.slice(0, 2));
    expect([one!.status, two!.status]).toEqual(["REFUSED", "REFUSED"]);
    await page.getByText("No question matches the filter.").waitFor();
    await page.getByLabel("filter questions").fill("");
    await items(page).waitFor();
    await whole(page);
    await page.keyboard.press("j");
    await page.keyboard.press("?");
    await page.getByRole("dialog").getByText("approve always").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Refuse n" }).click();
    expect((await calls[2]!).status).toBe("REFUSED");
  });

  it("is refused with a word to the agent, by keys alone", async () => {
    const console = await serve(place);
    const toolbox = await toolboxIn(place);
    const first = toolbox.call("terminal_exec", { command: "rm -rf data" });
    const second = toolbox.call("terminal_exec", { command: "rm -rf data/old" });
    const { page } = await visit(console.links.anna!);
    await items(page).nth(1).waitFor();
    const selected = page.locator('.item[aria-selected="true"] .what');
    const [one, other] = await items(page).locator(".what").allInnerTexts();
    expect(await selected.innerText()).toBe(one);
    await page.keyboard.press("j");
    expect(await selected.innerText()).toBe(other);
    await page.keyboard.press("k");
    expect(await selected.innerText()).toBe(one);
    await page.keyboard.press("n");
    await page.keyboard.type("keep it: yes, all of it\n");
    const [refused, waiting] = one === "rm -rf data" ? [first, second] : [second, first];
    expect(await refused).toMatchObject({
      status: "REFUSED",
      reason: expect.stringContaining("keep it: yes, all of it"),
    });
    await items(page).nth(1).waitFor({ state: "detached" });
    await page.keyboard.press("j");
    await page.keyboard.press("s");
    expect(await waiting).toMatchObject({ status: "DONE" });
  });

  it("shows a write as the difference that it makes", async () => {
    place.write("workspace/package.json", '{\n  "name": "x"\n}\n');
    const console = await serve(place);
    const { page } = await visit(console.links.alice!, { dark: true });
    const toolbox = await toolboxIn(place);
    const call = toolbox.call("write_file", {
      path: ".github/workflows/ci.yml",
      content: "on: push\njobs:\n  build:\n    runs-on: ubuntu-latest\n",
    });
    await Promise.race([
      items(page).waitFor(),
      call.then((result) => expect(result).toBe("it is not asked about")),
    ]);
    await whole(page);
    expect(await page.locator(".detail .added").allInnerTexts()).toContain("+on: push");
    await picture(page, "write-dark");
    await page.getByRole("button", { name: "Refuse" }).click();
    expect(await call).toMatchObject({ status: "REFUSED" });
  });

  it("is answered by the first approver, and the others are told", async () => {
    const console = await serve(place);
    const [{ page: alice }, { page: anna }] = [
      await visit(console.links.alice!),
      await visit(console.links.anna!),
    ];
    const toolbox = await toolboxIn(place);
    const call = toolbox.call("terminal_exec", { command: "rm -rf data" });
    for (const page of [alice, anna]) await items(page).waitFor();
    await alice.getByRole("button", { name: "Refuse" }).click();
    expect(await call).toMatchObject({ status: "REFUSED" });
    await anna.locator(".banner", { hasText: "It is refused by console:alice." }).waitFor();
    expect(await anna.getByRole("button", { name: "Approve once" }).isDisabled()).toBe(true);

    // Not a page: a process beside it.
    const again = toolbox.call("terminal_exec", { command: "rm -rf data" });
    await items(anna).waitFor();
    const store = await openStore(place.store);
    const [row] = await store.approvals({ state: ["pending"] });
    await new AnswerService({ store }).answer(row!.id, { answer: "once", by: "cli:root" });
    await store.close();
    expect(await again).toMatchObject({ status: "DONE", approvedBy: "cli:root" });
    await anna.locator(".settled", { hasText: "by cli:root" }).waitFor();
    expect(await items(anna).count()).toBe(0);
  });

  it("never becomes markup, and hides nothing", async () => {
    const console = await serve(place);
    const { page, trouble } = await visit(console.links.victor!);
    const toolbox = await toolboxIn(place, { agent: HOSTILE });
    const command = `rm -rf data '${HOSTILE.replaceAll("'", '"')}'`;
    const parked = await toolbox.call("terminal_exec", { command }, { wait: false });
    expect(parked).toMatchObject({ status: "BLOCKED" });
    const store = await openStore(place.store);
    const what = `rm -rf \u001b[2J \u202ephp.exe\u202c${HOSTILE}\nsecond line`;
    const findings = [asks("r<b>ule", HOSTILE)];
    const detail = {
      diff: `+${HOSTILE}`,
      explanation: [HOSTILE],
      who: [{ pid: 1, command: HOSTILE }],
      [HOSTILE]: HOSTILE,
    };
    const asked = request({ session: toolbox.session, what, findings, detail });
    await store.park(approvalOf(asked, "f".repeat(16), Date.now(), Date.now() + 60_000));
    await store.close();
    await items(page).nth(1).waitFor();
    for (const n of [0, 1]) {
      await items(page).nth(n).click();
      await whole(page);
      expect(await items(page).nth(n).innerText()).toContain("<img src=x");
      expect(await page.locator(".detail").innerText()).toContain("<img src=x");
    }
    const shown = await page.locator("body").innerText();
    expect(shown).toContain("\\u{202e}php.exe");
    expect(shown).toContain("\\u{1b}[2J");
    expect(shown).not.toMatch(/[\u001b\u202e]/);
    expect(await page.title()).toBe("(2) HERMES");
    expect(await page.locator("img, b, body script").count()).toBe(0);
    expect(await page.getByRole("button", { name: "Approve once" }).count()).toBe(0);
    expect(trouble).toEqual([]);
  });

  it("is not lost when the console is started anew", async () => {
    const first = await serve(place);
    const { page } = await visit(first.links.anna!);
    await page.getByText("Nothing waits for an answer.").waitFor();
    await first.stop();
    await page.locator(".link.lost").waitFor();
    const toolbox = await toolboxIn(place);
    const call = toolbox.call("terminal_exec", { command: "rm -rf data" });
    await serve(place, first.port);
    await items(page).waitFor();
    await page.locator(".link:not(.lost)").waitFor();
    await page.getByRole("button", { name: "Approve once" }).click();
    expect(await call).toMatchObject({ status: "DONE", approvedBy: "console:anna" });
  });

  it("stays usable when 200 wait, also on a phone", async () => {
    const store = await openStore(place.store);
    await openSession(store, "one", place.workspace);
    const now = Date.now();
    for (let i = 0; i < 200; i++) {
      const what = `git push origin branch-${i}`;
      const asked = request({ what, digest: `d${i}`, findings: [asks("git-push", "Others would see it.")] });
      await store.park(approvalOf(asked, i.toString(16).padStart(16, "0"), now + i, now + 3_600_000));
    }
    const console = await serve(place);
    const { page } = await visit(console.links.alice!, { width: 390, height: 844 });
    await items(page).nth(199).waitFor({ state: "attached" });
    expect(await page.title()).toBe("(200) HERMES");
    await items(page).nth(150).click();
    await whole(page);
    const wide = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
    expect(wide).toBe(false);
    await picture(page, "phone-detail");
    await page.getByRole("button", { name: "Approve once" }).click();
    await page.locator(".settled", { hasText: "branch-150" }).waitFor();
    expect(await page.title()).toBe("(199) HERMES");
    expect((await store.approvals({ state: ["granted"] })).map(({ what }) => what)).toEqual([
      "git push origin branch-150",
    ]);
    await store.close();
  });
});
