import { createHmac } from "node:crypto";
import { chmodSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type AnswerServer, serveAnswers } from "../../../src/people/approval/answer-server.js";
import { AnswerService } from "../../../src/people/approval/answer-service.js";
import { readSecret, readToken, signToken } from "../../../src/people/approval/token.js";
import { WebhookApprover } from "../../../src/people/approval/webhook.js";
import { until } from "../../support/until.js";
import { type Desktop, desktop, parked, queueOf, request } from "./support.js";

const SECRET = "s".repeat(40);

interface Posted {
  readonly signature: string;
  readonly text: string;
  readonly body: {
    readonly type: string;
    readonly id: string;
    readonly why: string;
    readonly item: { readonly id: string; readonly what: string };
    readonly tokens: Readonly<Record<string, string>>;
  };
}

let desk: Desktop;
let pager: Server;
let url: string;
let posted: Posted[];
/** What the pager answers, one after the other; then 200. */
let statuses: number[];
let answers: AnswerServer;

beforeEach(async () => {
  desk = await desktop();
  [posted, statuses] = [[], []];
  pager = createServer(async (incoming, outgoing) => {
    let text = "";
    for await (const piece of incoming) text += piece;
    posted.push({ signature: String(incoming.headers["hermes-signature"]), text, body: JSON.parse(text) });
    outgoing.writeHead(statuses.shift() ?? 200).end();
  });
  url = await listening(pager);
  answers = await serveAnswers({
    answers: new AnswerService({ store: desk.store }),
    secret: SECRET,
    by: "webhook:pager",
  });
});
afterEach(async () => {
  pager.close();
  pager.closeAllConnections();
  await answers.close();
  await desk.close();
});

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

const approvals = () => posted.filter(({ body }) => body.type === "approval");
const asked = () => until(() => approvals()[0]);

async function post(body: object | string): Promise<{ status: number; body: Record<string, string> }> {
  const response = await fetch(answers.url, {
    method: "POST",
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, string> };
}

function queueWithPager(problem?: (text: string) => void) {
  const approver = new WebhookApprover({ url, secret: SECRET, firstPause: 1, ...(problem && { problem }) });
  return queueOf(desk, {}, { approvers: [approver] });
}

describe("a webhook", () => {
  it("is sent what is asked, signed, and its token answers", async () => {
    const outcome = queueWithPager().queue.request(request());
    const { body, text, signature } = await asked();
    expect(body.item).toMatchObject({ what: "rm -rf build", keys: ["recursive delete"] });
    const [, time, mac] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(signature)!;
    expect(mac).toBe(createHmac("sha256", SECRET).update(`${time}.${text}`).digest("hex"));
    expect(Object.keys(body.tokens)).toEqual([
      ...["once", "session", "always"],
      ...["no", "no-session", "never"],
    ]);
    expect(await post({ token: body.tokens.once, note: "go on" })).toMatchObject({
      status: 200,
      body: { state: "granted", scope: "once" },
    });
    expect(await outcome).toMatchObject({ granted: true, by: "webhook:pager", note: "go on" });
    const gone = await until(() => posted.find((one) => one.body.type === "withdrawn"));
    expect(gone.body).toMatchObject({ id: body.item.id, why: "granted by webhook:pager" });
  });

  it("has no token for always where there is no always", async () => {
    void queueWithPager().queue.request(request({ argv: ["bash", "x"] }), { patience: 200 });
    expect(Object.keys((await asked()).body.tokens)).toEqual([
      "once",
      "session",
      "no",
      "no-session",
      "never",
    ]);
  });

  it("is tried again when it fails, and then not twice", async () => {
    statuses = [500, 503, 429];
    const outcome = queueWithPager().queue.request(request());
    const { id } = await until(() => approvals()[3]?.body.item);
    expect(await post({ token: approvals()[3]!.body.tokens.no })).toMatchObject({ status: 200 });
    expect(await outcome).toMatchObject({ granted: false, approval: id });
    expect(approvals()).toHaveLength(4);
  });

  it.each([
    ["refuses", () => (statuses = [403])],
    [
      "redirects",
      () => {
        statuses = Array<number>(10).fill(301);
      },
    ],
    [
      "is dead",
      () => {
        pager.close();
        pager.closeAllConnections();
      },
    ],
  ])("that %s keeps no request waiting, and it is told", async (_, prepare) => {
    prepare();
    const problems: string[] = [];
    const { queue } = queueWithPager((text) => problems.push(text));
    const outcome = queue.request(request());
    const { id } = await parked(desk.store);
    await until(() => problems[0]);
    expect(problems).toEqual([expect.stringMatching(/^webhook 127\.0\.0\.1:\d+: /)]);
    await queue.answer(id, { answer: "once", by: "cli:alice" });
    expect(await outcome).toMatchObject({ granted: true, by: "cli:alice" });
  });

  it.each([
    "http://pager.example/",
    "http://10.0.0.1/",
    "ftp://localhost/",
    "http://localhost.evil.example/",
  ])("must be https: %s is refused", (wrong) =>
    expect(() => new WebhookApprover({ url: wrong, secret: SECRET })).toThrow("must be https"),
  );
});

describe("a token", () => {
  const open = async () => {
    const outcome = queueWithPager().queue.request(request());
    const { tokens, item } = (await asked()).body;
    return { outcome, token: tokens.once!, no: tokens.no!, id: item.id };
  };

  it("answers once: a second time it is told who was first", async () => {
    const { outcome, token, no } = await open();
    expect((await post({ token })).status).toBe(200);
    for (const again of [token, no])
      expect(await post({ token: again })).toMatchObject({
        status: 409,
        body: { state: "granted", told: "it is granted already: webhook:pager was first" },
      });
    expect(await outcome).toMatchObject({ granted: true });
  });

  it("that was forged is refused", async () => {
    const { token, no, id } = await open();
    const expires = Number(token.split(".")[2]);
    const forged = [
      token.replace(".once.", ".always."),
      no.replace(".no.", ".once."),
      token.replace(String(expires), String(expires + 1)),
      token.replace(id, "0".repeat(16)),
      `${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`,
      signToken("t".repeat(40), { id, answer: "once", expires }),
      `${token}x`,
      "",
      "x".repeat(5000),
    ];
    for (const one of forged)
      expect(await post({ token: one }), one).toMatchObject({
        status: 403,
        body: { error: expect.stringContaining("not one of ours") },
      });
    expect((await desk.store.approval(id))!.state).toBe("pending");
  });

  it("that is over is refused, though it was ours", async () => {
    const { id } = await open();
    const token = signToken(SECRET, { id, answer: "once", expires: Date.now() - 1 });
    expect(() => readToken(SECRET, token)).toThrow("this token is over");
    expect((await post({ token })).status).toBe(403);
    expect((await desk.store.approval(id))!.state).toBe("pending");
  });

  it("is not taken from a GET, nor from anything that is no token", async () => {
    const { token, id } = await open();
    expect((await fetch(`${answers.url}?token=${token}`)).status).toBe(405);
    expect((await post("{")).status).toBe(400);
    expect((await post({ token: 1 })).status).toBe(400);
    expect((await post("[]")).status).toBe(400);
    expect((await post(`{"x":"${"x".repeat(9000)}","token":"${token}"}`)).status).toBe(400);
    expect((await desk.store.approval(id))!.state).toBe("pending");
  });

  it("is taken on this machine only", async () => {
    const wrong = serveAnswers({
      answers: new AnswerService({ store: desk.store }),
      secret: SECRET,
      by: "x",
      host: "0.0.0.0",
    });
    await expect(wrong).rejects.toThrow("on this machine only");
  });
});

describe("the secret", () => {
  it("is read from a file that is the user's alone", () => {
    const file = join(desk.folder, "secret");
    writeFileSync(file, `${SECRET}\n`, { mode: 0o600 });
    expect(readSecret(file)).toBe(SECRET);
    expect(readSecret("~/secret", desk.folder)).toBe(SECRET);
    chmodSync(file, 0o644);
    expect(() => readSecret(file)).toThrow("yours alone to read");
    chmodSync(file, 0o600);
    writeFileSync(file, "short");
    expect(() => readSecret(file)).toThrow("too short");
    expect(() => readSecret(`${file}.not`)).toThrow("ENOENT");
  });
});
