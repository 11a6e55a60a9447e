import { describe, expect, it } from "vitest";
import { Guard } from "../../../../src/intent/guard/guard.js";
import { LAYERS } from "../../../../src/intent/guard/layers.js";

const judge = (workspace: string, home: string, input: string) =>
  new Guard(LAYERS, { workspace, home }).check({ kind: "command", input }).action;

describe("the location of the workspace", () => {
  const ordinary = ["cat notes.txt", "sleep 0.3; echo x", "sed -n 1p src/a.ts", "rm -f old.txt", "cp a b"];

  it("does not matter: below root's home, in a hidden folder, in a system folder", () => {
    for (const [workspace, home] of [
      ["/root/project", "/root"],
      ["/root/.work/project", "/home/user"],
      ["/home/user/.config/nvim", "/home/user"],
      ["/srv/app", "/root"],
    ] as const)
      for (const command of ordinary)
        expect([workspace, command, judge(workspace, home, command)]).toEqual([workspace, command, "allow"]);
  });

  it("makes neither its secrets nor the home around it harmless", () => {
    for (const [workspace, home] of [
      ["/root/project", "/root"],
      ["/home/user", "/home/user"],
    ] as const) {
      expect(judge(workspace, home, "cat .env")).toBe("deny");
      expect(judge(workspace, home, "cat ~/.ssh/id_rsa")).toBe("deny");
      expect(judge(workspace, home, `cat ${home}/.npmrc`)).toBe("deny");
      expect(judge(workspace, home, "cat ~/.bash_history")).toBe("ask");
    }
    expect(judge("/srv/app", "/home/user", "cat /root/notes")).toBe("ask");
  });
});
