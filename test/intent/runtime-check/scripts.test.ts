import { existsSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { answering, execIn, makePlace, type Place, toolboxIn } from "../../agents/tools/place.js";

/** An attacker exchanges an approved script when its command runs already, just before the script is reached. */
let place: Place;
beforeEach(() => {
  place = makePlace();
  for (const folder of ["", "sub/", "other/"])
    place.write(`workspace/${folder}x.sh`, "#!/bin/sh\necho approved\n", 0o755);
  for (const folder of ["", "other/"])
    place.write(`workspace/${folder}evil.sh`, "#!/bin/sh\necho evil\n", 0o755);
  place.write("workspace/other/x.sh", "#!/bin/sh\necho evil\n", 0o755);
});

const at = (name: string) => join(place.workspace, name);

/** Runs a command that a person approves; `exchange` runs while the command waits. */
async function approved(command: string, exchange: () => void) {
  const toolbox = await toolboxIn(place, { approvers: [answering("once")] });
  const waiting = "git reset -q --hard 2> /dev/null; touch ready; until [ -e go ]; do sleep 0.02; done";
  const done = execIn(toolbox, `${waiting}; ${command}`);
  await expect.poll(() => existsSync(at("ready"))).toBe(true);
  exchange();
  writeFileSync(at("go"), "");
  return (await done).output;
}

function linked(name: string, to: string): void {
  rmSync(at(name), { recursive: true });
  symlinkSync(to, at(name));
}

describe("an approved script", () => {
  it.each(["bash x.sh", "sh ./x.sh", ". ./x.sh", "bash < x.sh", "cd sub && bash ../x.sh"])(
    "that is replaced by a link is read as it was approved: %s",
    async (command) => {
      const output = await approved(command, () => linked("x.sh", "evil.sh"));
      expect(output.stdout).toBe("approved\n");
    },
  );

  it("that is replaced by a link is not executed", async () => {
    const output = await approved("./x.sh", () => linked("x.sh", "evil.sh"));
    expect(output.stdout).toBe("");
    expect(output.refused).toMatchObject([{ rule: "approved-script" }]);
  });

  it.each(["cd sub && bash x.sh", "bash sub/x.sh", "cd sub; ./x.sh", "sub/x.sh"])(
    "whose folder is replaced does not become another script: %s",
    async (command) => {
      const output = await approved(command, () => {
        renameSync(at("sub"), at("old"));
        symlinkSync("other", at("sub"));
      });
      expect(output.stdout).not.toContain("evil");
    },
  );

  it("runs as ever when it is not changed", async () => {
    const output = await approved("bash x.sh; ./x.sh; sub/x.sh; cd sub && bash x.sh", () => {});
    expect(output.stdout).toBe("approved\n".repeat(4));
  });
});
