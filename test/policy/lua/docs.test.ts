import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { syscallByName } from "../../../src/abi/index.js";
import { camelName, DEFAULT_SUBSCRIPTION } from "../../../src/policy/lua/names.js";
import { root } from "../../support/root.js";
import { event, lua } from "./events.js";

const text = readFileSync(join(root, "docs/reference/lua.md"), "utf8");
const blocks = [...text.matchAll(/^```lua\n([\s\S]*?)^```/gm)].map((match) => match[1]!);
const block = (containing: string) => lua(blocks.find((code) => code.includes(containing))!);

describe("docs/reference/lua.md", () => {
  it.each(blocks.map((code) => [code.split("\n")[0]!, code]))("has a script that loads: %s", (_, code) => {
    const { subscription } = lua(code);
    expect(subscription.calls.size + subscription.constants.length).toBeGreaterThan(0);
  });

  it("prints policies/firewall.lua as it is", () => {
    expect(blocks[0]).toBe(readFileSync(join(root, "policies/firewall.lua"), "utf8"));
  });

  it("shows scripts that do what it says", () => {
    const short = block("subscribe =");
    expect(short.decide(event("rename", { path: "/etc/passwd" }))?.action).toBe("deny");
    expect(
      short.decide(event("connect", { address: { family: "ipv4", host: "10.0.0.1", port: 25 } }))?.action,
    ).toBe("deny");
    expect(
      short.decide(event("connect", { address: { family: "ipv4", host: "10.0.0.1", port: 80 } })),
    ).toBeUndefined();
    const full = block("Password hashes");
    expect(full.decide(event("openat", { path: "/etc/shadow" }))).toMatchObject({
      action: "deny",
      errno: "ENOENT",
    });
    expect(full.decide(event("unlink", { paths: [{ path: "/home/me/.ssh/id" }] }))?.action).toBe("ask");
    const change = block("virtual_file");
    expect(change.decide(event("openat", { path: "/etc/motd" }))?.action).toBe("emulate");
    const verdicts = Array.from({ length: 100 }, () => change.decide(event("write")));
    expect(verdicts.filter(Boolean)).toEqual([{ action: "fault", fault: { errno: "ENOSPC" } }]);
  });

  it("lists what the short form subscribes to", () => {
    for (const name of DEFAULT_SUBSCRIPTION) expect(text).toContain(name);
    for (const name of ["connect", "open", "openat", "execve", "sendto", "recvfrom"])
      expect(text).toContain(`\`${camelName(syscallByName(name)!)}\``);
  });

  it("names every answer and every field", () => {
    const keys = block("Password hashes");
    expect(keys.name).toBe("test");
    const found = lua(
      'local n = {} for k in pairs(hermes) do n[#n + 1] = k end print(table.concat(n, " ")) hermes.on("open", function(e) local m = {} for k in pairs(e) do m[#m + 1] = k end print(table.concat(m, " ")) end)',
    );
    found.decide(event("open"));
    for (const name of found.lines[0]!.split(" ").slice(1)) expect(text).toContain(`hermes.${name}`);
    for (const name of found.lines[1]!.split(" ").slice(1))
      expect(text).toMatch(new RegExp(`\\be[.:]${name}\\b`));
  });
});
