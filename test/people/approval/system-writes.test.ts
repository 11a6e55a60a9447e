// kernel test: a command writes to /etc
import { existsSync, readFileSync, rmSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { answering, execIn, makePlace, toolboxIn } from "../../agents/tools/place.js";

const FILE = `/etc/hermes-test-${process.pid}`;
afterEach(() => rmSync(FILE, { force: true }));

describe.skipIf(process.getuid?.() !== 0)("a write to /etc", () => {
  it("is refused, unless the user's file has a person asked", async () => {
    const yes = answering("once");
    const toolbox = await toolboxIn(makePlace(), { approvers: [yes] });
    const written = await toolbox.call("write_file", { path: FILE, content: "x\n" });
    expect(written).toMatchObject({ status: "REFUSED", rule: "sensitive-write" });
    expect(await execIn(toolbox, `echo x > ${FILE}`)).toMatchObject({
      status: "REFUSED",
      rule: "write-system",
    });
    expect([yes.asked, existsSync(FILE)]).toEqual([[], false]);
  });

  it("is asked about each time then, by the tool and by a command, even if the answer is always", async () => {
    const place = makePlace();
    place.write("home/hermes.yaml", "actions: { sensitive-write: ask, write-system: ask }\n");
    const always = answering("always");
    const toolbox = await toolboxIn(place, { approvers: [always] });
    for (let i = 1; i <= 2; i++) {
      const { status } = await toolbox.call("write_file", { path: FILE, content: `tool ${i}\n` });
      expect([status, readFileSync(FILE, "utf8")]).toEqual(["DONE", `tool ${i}\n`]);
    }
    for (let i = 1; i <= 2; i++) {
      const { output } = await execIn(toolbox, `echo command > ${FILE} && cat ${FILE}`);
      expect(output).toMatchObject({ exitCode: 0, stdout: "command\n" });
    }
    expect(always.asked).toHaveLength(4);
    expect(readFileSync(`${place.home}/hermes.yaml`, "utf8")).not.toContain("exact:");
  });
});
