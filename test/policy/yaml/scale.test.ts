import { describe, expect, test } from "vitest";
import { cpuMs } from "../../support/cpu.js";
import { connect, event, exec, load, open, ruleOf } from "./policies.js";

function many(count: number): string {
  const lines = Array.from({ length: count }, (_, i) => {
    const id = `{ id: r${i}, deny`;
    if (i % 5 === 0) return `${id}: read, path: /srv/a${i}/secret/** }`;
    if (i % 5 === 1) return `${id}: read, path: "**/.secret${i}" }`;
    if (i % 5 === 2) return `${id}: write, path: ["/data/b${i}/*.txt"] }`;
    if (i % 5 === 3) return `${id}: connect, address: 10.${(i >> 8) & 255}.${i & 255}.0/24 }`;
    return `${id}: exec, argv: [prog${i}, x] }`;
  });
  return `name: many\nrules:\n${lines.map((line) => `  - ${line}`).join("\n")}\n`;
}

const EVENTS = [
  open("/usr/lib/x86_64-linux-gnu/libc.so.6"),
  open("/srv/a100/secret/x"),
  open("/home/me/file.txt", "O_WRONLY|O_CREAT|O_TRUNC"),
  connect("93.184.216.34:443"),
  exec(["ls", "-l"]),
];

function nanoseconds(policy: Awaited<ReturnType<typeof load>>): number {
  const rounds = 4000;
  const best = Array.from({ length: 7 }, () => {
    const started = cpuMs();
    for (let i = 0; i < rounds; i++) for (const call of EVENTS) policy.decide(call);
    return ((cpuMs() - started) * 1e6) / rounds / EVENTS.length;
  });
  return Math.min(...best);
}

describe("5,000 rules", () => {
  test("do not cost in proportion to their number", async () => {
    const [few, lots] = [await load(many(200)), await load(many(5000))];
    nanoseconds(few);
    nanoseconds(lots);
    const [a, b] = [nanoseconds(few), nanoseconds(lots)];
    expect(b, `${a.toFixed(0)} ns with 200 rules, ${b.toFixed(0)} ns with 5,000`).toBeLessThan(8 * a);
  });

  test("decide as they are written", async () => {
    const policy = await load(many(5000));
    expect(ruleOf(policy, open("/srv/a4995/secret/x/y"))).toBe("r4995");
    expect(ruleOf(policy, open("/anywhere/.secret4996"))).toBe("r4996");
    expect(ruleOf(policy, open("/data/b4997/x.txt", "O_WRONLY"))).toBe("r4997");
    expect(ruleOf(policy, connect("10.19.134.7:1"))).toBe("r4998");
    expect(ruleOf(policy, exec(["prog4999", "x"]))).toBe("r4999");
    expect(ruleOf(policy, event("rename", { paths: ["/srv", "/x"] }))).toBe("r0");
    for (const call of EVENTS.filter((_, i) => i !== 1)) expect(policy.decide(call)).toBeUndefined();
  });
});
