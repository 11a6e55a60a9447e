import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makePlace, type Place } from "../../agents/tools/place.js";
import { HERMES } from "../../support/cli.js";
import { until } from "../../support/until.js";
import { ask, enter, picture, type Served, serve, useBrowser, visit } from "./support.js";

const ALLOWING = "name: demo\nrules:\n  - { id: gate, deny: read, path: /nowhere }\n";
const denying = (path: string) => ALLOWING.replace("/nowhere", path);

useBrowser();
let place: Place;
let run: ChildProcess;
let [policy, gate, output, trace]: string[] = [];
beforeEach(async () => {
  place = makePlace();
  policy = place.write("policies/demo.yaml", ALLOWING);
  gate = place.write("workspace/gate", "open");
  output = join(place.workspace, "output");
  trace = join(place.workspace, "t.jsonl");
  const script = `while :; do cat ${gate} > ${output}.new 2>/dev/null || echo shut > ${output}.new; mv ${output}.new ${output}; sleep 0.05; done`;
  const words = ["run", "-q", "-p", policy, "-t", trace, "-e", "openat", "--", "sh", "-c", script];
  run = spawn(HERMES, words, { cwd: place.workspace, stdio: "ignore" });
  await says("open");
});
afterEach(async () => {
  run.kill("SIGTERM");
  if (run.exitCode === null && run.signalCode === null) await once(run, "exit");
});

/** What the program can see of the gate. */
const says = (text: string) =>
  until(() => (existsSync(output!) && readFileSync(output!, "utf8").trim() === text ? true : undefined));

const post = (console: Served, who: Record<string, string>, path: string, body: object) =>
  ask(console, "POST", path, who, JSON.stringify(body));

describe("a policy, edited in a browser", () => {
  it("changes what a running program may do, and is taken back", async () => {
    const console = await serve(place);
    const { page, trouble } = await visit(console.links.alice!);
    await page.getByRole("link", { name: "Policies" }).click();
    const item = page.locator(`.item[data-file="${policy}"]`);
    await item.waitFor();
    expect(await item.textContent()).toContain("demo");
    await item.click();
    const text = page.getByLabel("the policy");
    await text.waitFor();
    const save = page.getByRole("button", { name: "Save", exact: true });

    await text.fill(denying(gate!).replace("deny: read", "deny: reed"));
    await page
      .locator(".told .bad", { hasText: 'line 3: rule gate: unknown effect, class or system call "reed"' })
      .waitFor();
    expect(await page.locator(".numbers .wrong").innerText()).toBe("3");
    expect(await save.isDisabled()).toBe(true);

    await text.fill(denying(gate!));
    await page.locator(".told .good").waitFor();
    expect(await page.getByLabel("trace").inputValue()).toBe(trace);
    await page.getByRole("button", { name: "Try on this trace" }).click();
    await page.locator(".tried .bad", { hasText: `allow → deny openat ${gate}` }).waitFor();
    expect(readFileSync(policy!, "utf8")).toBe(ALLOWING);
    await picture(page, "policy");

    await save.click();
    await says("shut");
    expect(readFileSync(policy!, "utf8")).toBe(denying(gate!));
    expect(readdirSync(dirname(policy!))).toEqual(["demo.yaml"]);

    await page.getByRole("button", { name: "what was there before" }).click();
    await expect.poll(() => text.inputValue()).toBe(ALLOWING);
    await page.locator(".told .good").waitFor();
    await save.click();
    await says("open");
    await expect.poll(() => page.locator(".history .row").count()).toBe(2);
    expect(trouble).toEqual([]);
  });

  it("is refused when it is wrong, was changed meanwhile, holds a secret, or is not in force", async () => {
    const console = await serve(place);
    const admin = await enter(console, "alice");
    const read = await ask(console, "GET", `/api/policy?file=${policy}`, admin);
    const { digest } = read.body;
    const save = (more: object) =>
      post(console, admin, "/api/policy/save", { file: policy, text: denying(gate!), digest, ...more });
    expect((await save({ text: "name: demo\nrules: [\n" })).status).toBe(400);
    expect((await save({ digest: "0".repeat(64) })).status).toBe(409);
    const token = `ghp_${"a1B2".repeat(9)}`;
    expect((await save({ text: `${denying(gate!)}# ${token}\n` })).body.error).toContain("secret");
    const other = place.write("policies/other.yaml", ALLOWING);
    for (const file of [other, "/etc/passwd", "../demo.yaml"]) {
      expect((await save({ file })).status, file).toBe(404);
      expect((await ask(console, "GET", `/api/policy?file=${file}`, admin)).status, file).toBe(404);
    }
    writeFileSync(policy!, `${ALLOWING}# by hand\n`);
    expect((await save({})).status).toBe(409);
    expect(readFileSync(policy!, "utf8")).toBe(`${ALLOWING}# by hand\n`);
  });

  it("is for admins", async () => {
    const console = await serve(place);
    const approver = await enter(console, "anna");
    expect((await ask(console, "GET", `/api/policy?file=${policy}`, approver)).body.text).toBe(ALLOWING);
    for (const path of ["check", "try", "save"])
      expect((await post(console, approver, `/api/policy/${path}`, { file: policy, text: "x" })).status).toBe(
        403,
      );
  });
});
