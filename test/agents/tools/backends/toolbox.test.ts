import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { answering, execIn, makePlace, type Place, toolboxIn } from "../place.js";
import { BusyboxRoot } from "./image.js";
import { Sshd } from "./sshd.js";

const root = new BusyboxRoot();
let sshd: Sshd;
beforeAll(async () => {
  // A busybox has no bash; what these commands use of it, its own shell can do.
  writeFileSync(join(root.path, "bin", "bash"), '#!/bin/sh\nexec sh "$@"\n');
  chmodSync(join(root.path, "bin", "bash"), 0o755);
  sshd = await Sshd.start();
});
afterAll(() => {
  root.remove();
  sshd.remove();
});

function configure(place: Place, backend: object): void {
  place.write("home/hermes.yaml", JSON.stringify({ backend }));
}

describe.each([
  ["oci", () => ({ kind: "oci", oci: { engine: "crun", rootfs: root.path } })],
  ["ssh", () => ({ kind: "ssh", ssh: sshd.section() })],
])("terminal_exec with backend.kind: %s", (kind, section) => {
  it("runs there, with output and exit code as they are", async () => {
    const place = makePlace();
    configure(place, section());
    const { status, output } = await execIn(await toolboxIn(place), "pwd; test -d /hermes; echo $?; exit 7");
    expect(status).toBe("DONE");
    const inContainer = kind === "oci" ? 0 : 1;
    expect(output).toMatchObject({ exitCode: 7, stdout: `${place.workspace}\n${inContainer}\n` });
  });

  it("asks here what is done there", async () => {
    const place = makePlace();
    configure(place, section());
    mkdirSync(join(place.workspace, "victim"));
    writeFileSync(join(place.workspace, "script.sh"), "a=rm; /bin/$a -r victim\n");
    const approver = answering("once");
    await execIn(await toolboxIn(place, { approvers: [approver] }), "sh script.sh");
    expect(approver.asked.map(({ what }) => what)).toContainEqual(expect.stringContaining("rm -r victim"));
    expect(existsSync(join(place.workspace, "victim"))).toBe(false);
  });
});

describe("a project's hermes.yaml", () => {
  it("cannot say where commands run", async () => {
    const place = makePlace();
    place.write("workspace/hermes.yaml", JSON.stringify({ backend: { kind: "local" } }));
    await expect(toolboxIn(place)).rejects.toThrow(/`backend.kind` belongs in your own file/);
  });
});
