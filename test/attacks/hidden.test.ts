import { expect, it } from "vitest";
import { asEachUser, type Shipped } from "../support/workspace.js";

/** What a policy hides tells nothing: no size, no link's target, no extended attributes. */

const ASK = `
import os, sys
for name in sys.argv[1:]:
    for what, ask in {
        "size": lambda: os.stat(name).st_size, "lsize": lambda: os.lstat(name).st_size, "exists": lambda: os.access(name, 0) or os.stat(name),
        "readlink": lambda: os.readlink(name), "getxattr": lambda: os.getxattr(name, "user.x"),
        "lgetxattr": lambda: os.getxattr(name, "user.x", follow_symlinks=False), "listxattr": lambda: os.listxattr(name),
    }.items():
        try: print("told", what, ask())
        except OSError as e: print("hidden", what, e.errno)
`;

let place: Shipped;

asEachUser(
  (fresh) => {
    place = fresh;
    place.write("ask.py", ASK);
    place.write("file", "some secret", place.outside);
    place.bare("setfattr", "-n", "user.x", "-v", "value", `${place.outside}/file`);
    place.bare("ln", "-s", "secret-target", `${place.outside}/link`);
    place.bare("mkdir", `${place.home}/.ssh`);
    place.bare("ln", "-s", "secret-target", `${place.home}/.ssh/id_rsa`);
  },
  () => {
    const ask = (policy: string, ...files: string[]) =>
      place.bare(
        place.program,
        "run",
        "-q",
        "-p",
        policy,
        "--",
        "/usr/bin/python3",
        `${place.workspace}/ask.py`,
        ...files,
      );

    it("untrusted tells nothing of files that it does not let be read", () => {
      const { stdout } = ask("untrusted", `${place.outside}/file`, `${place.outside}/link`);
      expect(stdout.split("\n").filter((line) => line.startsWith("told"))).toEqual([]);
      expect(stdout.match(/^hidden \w+ 2$/gm)).toHaveLength(14);
    });

    it("untrusted tells what it lets be read", () => {
      const { stdout } = ask("untrusted", `${place.workspace}/ask.py`);
      expect(stdout).toContain(`told size ${ASK.length}`);
      expect(stdout).toContain("told listxattr []");
    });

    it("secrets tells no target and no attributes of a key", () => {
      const { stdout } = ask("secrets", `${place.home}/.ssh/id_rsa`);
      expect(stdout).toContain("hidden readlink 2");
      expect(stdout).toContain("hidden lgetxattr 2");
    });
  },
);
