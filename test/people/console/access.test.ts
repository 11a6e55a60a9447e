import { beforeEach, describe, expect, it } from "vitest";
import { openStore } from "../../../src/record/store/open.js";
import { makePlace, type Place, toolboxIn } from "../../agents/tools/place.js";
import { hermes } from "../../support/cli.js";
import { ask, enter, type Served, serve } from "./support.js";

let place: Place;
let console: Served;
beforeEach(async () => {
  place = makePlace();
  console = await serve(place);
});

const secretOf = (name: string) => new URL(console.links[name]!).hash.slice("#login=".length);
const login = (link: string, more: Readonly<Record<string, string>> = {}) =>
  ask(
    console,
    "POST",
    "/api/login",
    { origin: console.url, "content-type": "application/json", ...more },
    JSON.stringify({ link }),
  );

describe("a link", () => {
  it("lets a person in once", async () => {
    const first = await login(secretOf("alice"));
    expect(first.status).toBe(200);
    expect(first.headers["set-cookie"]![0]).toMatch(/; HttpOnly; SameSite=Strict; Path=\/; Max-Age=\d+$/);
    expect((await login(secretOf("alice"))).status).toBe(401);
  });

  it("that is not one of ours lets no person in", async () => {
    for (const wrong of ["", "x", "A".repeat(43), "../../etc/passwd"])
      expect((await login(wrong)).status).toBe(401);
  });

  it("can be had for a console that runs, wherever it listens", async () => {
    const { stdout, stderr, status } = hermes([
      ..."console link --json --user bob:viewer --store".split(" "),
      place.store,
    ]);
    expect([status, stderr]).toEqual([0, ""]);
    const { links } = JSON.parse(stdout) as { links: { link: string; name: string; role: string }[] };
    expect(links).toMatchObject([{ name: "bob", role: "viewer" }]);
    const { hash, origin } = new URL(links[0]!.link);
    expect(origin).toBe(console.url);
    expect((await login(hash.slice("#login=".length))).body).toMatchObject({ name: "bob", role: "viewer" });
  });

  it("for a console that does not run says so, and where one would", async () => {
    const link = (...more: string[]) => hermes(["console", "link", "--store", place.store, ...more]);
    expect(link("--listen", "127.0.0.1:7700").stdout).toContain("http://127.0.0.1:7700/#login=");
    expect(link("--origin", "https://hermes.example").stdout).toContain("https://hermes.example/#login=");
    await console.stop();
    const { stdout, stderr } = link();
    expect(stdout).toContain("http://127.0.0.1:7655/#login=");
    expect(stderr).toContain("no console runs on this store");
  });

  it("is used on the record, and never stands in the log", async () => {
    await login(secretOf("anna"));
    await console.stop();
    const store = await openStore(place.store);
    const records = [];
    for await (const { body } of store.audit({ kind: ["config"] })) records.push(JSON.parse(body));
    await store.close();
    expect(records).toMatchObject([
      { what: "console: logged in", by: "console:anna", detail: { role: "approver" } },
    ]);
    expect(console.log.map((line) => JSON.parse(line))).toMatchObject([
      { level: "info", what: "request", path: "/api/login", status: 200, who: "console:anna" },
    ]);
    expect(console.log.join()).not.toContain(secretOf("anna"));
  });
});

describe("what is asked of the server", () => {
  it("needs both halves of the login", async () => {
    const whole = await enter(console, "alice");
    expect((await ask(console, "GET", "/api/me", whole)).body).toEqual({ name: "alice", role: "admin" });
    const { cookie, "hermes-key": key, ...rest } = whole;
    for (const half of [
      rest,
      { ...rest, cookie: cookie! },
      { ...rest, "hermes-key": key! },
      { ...rest, cookie: cookie!, "hermes-key": `${key}x` },
    ])
      expect((await ask(console, "GET", "/api/me", half)).status).toBe(401);
  });

  it("under a name that is not ours is refused, the page too", async () => {
    const whole = await enter(console, "alice");
    for (const host of [
      "evil.example",
      `evil.example:${console.port}`,
      "127.0.0.1",
      `127.0.0.1.nip.io:${console.port}`,
    ])
      for (const path of ["/", "/api/me", "/api/feed", "/metrics", "/healthz"])
        expect((await ask(console, "GET", path, { ...whole, host })).status, `${host} ${path}`).toBe(421);
    expect(
      (await ask(console, "GET", "/api/me", { ...whole, host: `localhost:${console.port}` })).status,
    ).toBe(200);
  });

  it("from another page is refused", async () => {
    const whole = await enter(console, "alice");
    const answer = JSON.stringify({ id: "x", answer: "once" });
    for (const origin of [
      "https://evil.example",
      "null",
      "http://127.0.0.1:1",
      `https://127.0.0.1:${console.port}`,
    ])
      expect((await ask(console, "POST", "/api/answer", { ...whole, origin }, answer)).status, origin).toBe(
        403,
      );
    const { origin: _, ...without } = whole;
    expect((await ask(console, "POST", "/api/answer", without, answer)).status).toBe(403);
    expect(
      (await ask(console, "POST", "/api/answer", { ...whole, "sec-fetch-site": "same-site" }, answer)).status,
    ).toBe(403);
    expect((await ask(console, "GET", "/api/me", { ...whole, "sec-fetch-site": "cross-site" })).status).toBe(
      403,
    );
    expect(
      (await ask(console, "POST", "/api/answer", { ...whole, "content-type": "text/plain" }, answer)).status,
    ).toBe(415);
    expect((await login(secretOf("anna"), { origin: "https://evil.example" })).status).toBe(403);
  });

  it("needs the role: who only looks answers nothing", async () => {
    const toolbox = await toolboxIn(place);
    const parked = await toolbox.call("terminal_exec", { command: "rm -rf data" }, { wait: false });
    const viewer = await enter(console, "victor");
    const body = JSON.stringify({ id: parked.approval, answer: "once" });
    const refused = await ask(console, "POST", "/api/answer", viewer, body);
    expect(refused).toMatchObject({ status: 403, body: { error: "this is for approvers; you are viewer" } });
    const shown = await ask(console, "GET", `/api/approval?id=${parked.approval}`, viewer);
    expect(shown.body).toMatchObject({ state: "pending", what: "rm -rf data" });
    const approver = await enter(console, "anna");
    expect((await ask(console, "POST", "/api/answer", approver, body)).body).toMatchObject({
      mine: true,
      state: "granted",
    });
    expect(await toolbox.resume(parked.id)).toMatchObject({ status: "DONE", approvedBy: "console:anna" });
    expect((await ask(console, "POST", "/api/answer", approver, body)).body).toMatchObject({
      mine: false,
      told: "it is granted already: console:anna was first",
    });
  });

  it("is bounded, and must be something", async () => {
    const whole = await enter(console, "alice");
    const post = (body: string) => ask(console, "POST", "/api/answer", whole, body);
    expect((await post("x".repeat(300_000))).status).toBe(413);
    expect((await post("not json")).status).toBe(400);
    expect((await post('{"id": "f00", "answer": "perhaps"}')).status).toBe(400);
    expect((await post('{"id": "f00", "answer": "once"}')).body.error).toContain("there is no such approval");
    for (const path of [
      "/api/none",
      "/etc/passwd",
      "/../package.json",
      "/%2e%2e/package.json",
      "/__proto__",
      "//",
      "//evil/x",
      "/report/x",
    ])
      expect((await ask(console, "GET", path, whole)).status, path).toBe(404);
  });

  it("is over after a logout", async () => {
    const whole = await enter(console, "alice");
    expect((await ask(console, "POST", "/api/logout", whole, "{}")).status).toBe(200);
    expect((await ask(console, "GET", "/api/me", whole)).status).toBe(401);
  });
});

describe("the page", () => {
  it("comes with rules that let nothing in it run but its own script", async () => {
    const { headers } = await ask(console, "GET", "/");
    const policy = String(headers["content-security-policy"]);
    expect(policy).toContain("default-src 'none'; script-src 'self'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(headers).toMatchObject({ "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" });
  });

  it("is not served to a network", () => {
    const { status, stderr } = hermes(["console", "--listen", "0.0.0.0:0", "--store", place.store]);
    expect(status).toBe(2);
    expect(stderr).toContain("on this machine only");
  });
});
