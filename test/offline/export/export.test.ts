import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { syscallByName } from "../../../src/abi/index.js";
import { hermes, shell } from "../../support/cli.js";
import { root } from "../../support/root.js";

let folder: string;
let trace: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-export-"));
  trace = join(folder, "t.htrace");
  const policy = join(folder, "p.yaml");
  writeFileSync(
    policy,
    `name: p\nrules:\n  - { id: host, deny: read, path: /etc/hostname, reason: 'Not "yours"].' }\n`,
  );
  const script = `import os, socket, threading
s = socket.socket(); s.connect_ex(('127.0.0.1', 9))
open(b'${folder}/\\xff\\\\', 'w').close()
t = threading.Thread(target=lambda: os.system('/bin/true; exit 3')); t.start(); t.join()
try: open('/etc/hostname')
except OSError: pass`;
  hermes(["run", "-q", "-p", policy, "-t", trace, "--", "/usr/bin/python3", "-I", "-c", script]);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function exported(kind: string, ...flags: string[]): string {
  const { stdout, stderr, status } = hermes(["export", trace, "--to", kind, ...flags]);
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  return stdout;
}

const lines = (text: string) => text.split("\n").filter(Boolean);
// biome-ignore lint/suspicious/noExplicitAny: documents of other tools
type Document = any;

describe("hermes export", () => {
  it("--to chrome: slices that nest on their threads, named processes, forks with both ends", () => {
    const { traceEvents, otherData } = JSON.parse(exported("chrome")) as Document;
    expect(otherData.tool).toBe("hermes");
    const busyUntil = new Map<number, number>();
    for (const event of traceEvents as Document[]) {
      expect(event).toMatchObject({ ph: expect.stringMatching(/^[XMisf]$/), name: expect.any(String) });
      for (const field of ["ts", "pid", "tid"]) expect(Number.isSafeInteger(event[field])).toBe(true);
      expect(event.ts).toBeGreaterThanOrEqual(0);
    }
    const slices = traceEvents
      .filter((e: Document) => e.ph === "X")
      .sort((a: Document, b: Document) => a.ts - b.ts);
    expect(slices.length).toBeGreaterThan(50);
    for (const { ts, dur, tid } of slices) {
      expect(dur).toBeGreaterThanOrEqual(0);
      expect(ts).toBeGreaterThanOrEqual(busyUntil.get(tid) ?? 0);
      busyUntil.set(tid, ts + dur);
    }
    const ids = (ph: string) => traceEvents.filter((e: Document) => e.ph === ph).map((e: Document) => e.id);
    expect(ids("s").length).toBeGreaterThanOrEqual(2);
    expect(ids("f")).toEqual(ids("s"));
    const names = traceEvents
      .filter((e: Document) => e.name === "process_name")
      .map((e: Document) => e.args.name);
    expect(names).toEqual(
      expect.arrayContaining([expect.stringMatching(/python3/), "sh -c /bin/true; exit 3", "/bin/true"]),
    );
    expect(traceEvents.find((e: Document) => e.args?.rule === "host")).toMatchObject({
      name: "openat",
      cname: "terrible",
    });
  });

  it("--to strace: as strace would have written it", () => {
    const text = lines(exported("strace"));
    expect(text.every((line) => /^\d+ +\d{10}\.\d{6} (\w+\(.*\) += .*|\+\+\+ .* \+\+\+)$/.test(line))).toBe(
      true,
    );
    expect(
      text.some((line) => / connect\(3<socket:\[\d+\]>, \{sa_family=AF_INET, sin_port=htons\(9\)/.test(line)),
    ).toBe(true);
    expect(text.some((line) => line.endsWith("+++ exited with 3 +++"))).toBe(true);
  });

  it("--to seccomp: an OCI profile of what was called, and of nothing else", () => {
    const profile = JSON.parse(exported("seccomp")) as Document;
    expect(profile).toMatchObject({ defaultAction: "SCMP_ACT_ERRNO", architectures: ["SCMP_ARCH_X86_64"] });
    const { names, action } = profile.syscalls[0];
    expect(action).toBe("SCMP_ACT_ALLOW");
    expect(names).toEqual(expect.arrayContaining(["connect", "execve", "openat", "exit_group"]));
    expect(names).not.toContain("ptrace");
    expect(names.filter((name: string) => !syscallByName(name))).toEqual([]);
    const partial = join(folder, "partial.jsonl");
    hermes(["run", "-q", "-t", partial, "-e", "openat", "--", "true"]);
    expect(hermes(["export", partial, "--to", "seccomp"]).stderr).toMatch(
      /holds only openat: a profile of it would refuse/,
    );
  });

  it("--to syslog: RFC 5424, by default only what a policy decided and which programs ran", () => {
    const messages = lines(exported("syslog"));
    const grammar =
      /^<(\d{1,3})>1 \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z [!-~]{1,255} hermes [!-~]{1,128} [!-~]{1,32} \[hermes@32473( [a-z]+="([^"\\\]]|\\["\\\]])*")+\] \P{Cc}+$/u;
    expect(messages.filter((message) => !grammar.test(message))).toEqual([]);
    const denied = messages.find((message) => message.includes('rule="host"'))!;
    expect(denied).toMatch(
      /^<84>1 .* deny \[.*call="openat" path="\/etc\/hostname" .*errno="EACCES" action="deny" policy="p"/,
    );
    expect(denied).toMatch(
      /deny by p\/host: python3\S*\[\d+\] openat \/etc\/hostname = EACCES \(Not "yours"\]\.\)$/,
    );
    expect(messages.some((message) => message.includes('call="connect"'))).toBe(false);
    expect(lines(exported("syslog", "--calls", "all")).length).toBeGreaterThan(messages.length);
  });

  it("--to ecs: documents of the Elastic Common Schema", () => {
    const documents: Document[] = lines(exported("ecs")).map((line) => JSON.parse(line));
    for (const document of documents)
      expect(document).toMatchObject({
        "@timestamp": expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        ecs: { version: "8.11.0" },
        event: {
          kind: "event",
          module: "hermes",
          action: expect.any(String),
          category: [expect.any(String)],
        },
      });
    expect(documents.find((d) => d.event.action === "connect")).toMatchObject({
      event: { category: ["network"], type: ["connection", "allowed"], outcome: "failure" },
      destination: { ip: "127.0.0.1", port: 9 },
      error: { code: "ECONNREFUSED" },
    });
    expect(documents.find((d) => d.rule?.name === "host")).toMatchObject({
      event: { category: ["file"], type: ["access", "denied"], outcome: "failure" },
      file: { path: "/etc/hostname", name: "hostname" },
      rule: { ruleset: "p", description: 'Not "yours"].' },
    });
    expect(documents.find((d) => d.process?.exit_code === 3)).toMatchObject({
      event: { type: ["end"] },
      process: { name: "dash", parent: { pid: expect.any(Number) } },
    });
    expect(documents.find((d) => d.file?.path === `${folder}/\ufffd\\`)).toBeDefined();
  });

  it("says what is wrong, and ends quietly when its reader closes the pipe", () => {
    expect(hermes(["export", trace, "--to", "xml"])).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/chrome or strace/),
    });
    expect(hermes(["export", trace]).status).toBe(2);
    expect(hermes(["export", trace, "--to", "ecs", "-o", "/no/such/x"])).toMatchObject({
      status: 125,
      stderr: expect.stringMatching(/cannot write .*ENOENT/),
    });
    expect(hermes(["export", trace, "--to", "ecs", "--endpoint", "http://127.0.0.1:1"]).status).toBe(2);
    expect(hermes(["export", "/no/such", "--to", "ecs"]).stderr).toMatch(/cannot be read: ENOENT/);
    const { stdout, stderr } = shell(`hermes export ${trace} --to ecs --calls all | head -1 | wc -l`);
    expect({ stdout, stderr }).toEqual({ stdout: "1\n", stderr: "" });
  });
});

describe("hermes export --to otlp", () => {
  let collector: ChildProcess;
  let port: string;
  let taken: string;
  beforeAll(async () => {
    taken = join(folder, "spans.jsonl");
    writeFileSync(taken, "");
    collector = spawn(process.execPath, [join(root, "test/offline/export/collector.mjs"), taken], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    port = String((await once(collector.stdout!, "data"))[0]).trim();
  });
  afterAll(() => collector.kill());

  it("sends a run as spans that hang together, tries again when the collector is busy, and tells what it rejected", () => {
    const { stderr, status } = hermes([
      "export",
      trace,
      "--to",
      "otlp",
      "--endpoint",
      `http://127.0.0.1:${port}`,
      "--header",
      "x-key: secret",
    ]);
    expect(status).toBe(0);
    const spans: Document[] = lines(readFileSync(taken, "utf8")).map((line) => JSON.parse(line));
    expect(stderr).toMatch(
      new RegExp(`^hermes: ${spans.length.toLocaleString("en")} spans sent, the collector rejected \\d+`),
    );
    expect(spans.every((span) => span.key === "secret")).toBe(true);
    expect(new Set(spans.map((span) => span.traceId)).size).toBe(1);
    const byId = new Map(spans.map((span) => [span.spanId, span]));
    expect(byId.size).toBe(spans.length);
    const roots = spans.filter((span) => !byId.has(span.parentSpanId));
    expect(roots).toMatchObject([{ name: "hermes run /usr/bin/python3" }]);
    const value = (span: Document, key: string) =>
      Object.values(span.attributes.find((a: Document) => a.key === key)?.value ?? {})[0];
    const denied = spans.find((span) => value(span, "hermes.rule") === "host")!;
    expect(denied).toMatchObject({ name: "openat", status: { code: 2, message: 'Not "yours"].' } });
    expect(byId.get(denied.parentSpanId)!.name).toMatch(/^python3/);
    const shellSpan = spans.find((span) => value(span, "process.exit.code") === "3")!;
    expect(byId.get(shellSpan.parentSpanId)!.name).toMatch(/^python3/);
    expect(value(spans.find((span) => span.name === "connect")!, "network.peer.port")).toBe("9");
  });

  it("writes the same spans into a file", () => {
    const file = join(folder, "spans.otlp");
    hermes(["export", trace, "--to", "otlp", "-o", file, "--calls", "decided"]);
    const names = lines(readFileSync(file, "utf8")).flatMap((line) =>
      (JSON.parse(line) as Document).resourceSpans[0].scopeSpans[0].spans.map((span: Document) => span.name),
    );
    expect(names).toContain("openat");
    expect(names).not.toContain("connect");
  });

  it("says when the collector is not there, or does not want it", () => {
    expect(
      hermes(["export", trace, "--to", "otlp", "--endpoint", `http://127.0.0.1:${port}/other`]),
    ).toMatchObject({
      status: 125,
      stderr: expect.stringMatching(/the collector at .*\/other\/v1\/traces refused the spans: status 404/),
    });
    expect(hermes(["export", trace, "--to", "otlp", "--endpoint", "ftp://x"])).toMatchObject({ status: 2 });
  });
});
