import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { isThere, until } from "../support/until.js";
import { asEachUser, type Shipped, WAYS } from "../support/workspace.js";

/** Sockets behind which a server outside of the run acts on its behalf. */

/** Listens on every kind of socket, and writes down what arrives. */
const LISTENER = `
import os, select, socket, sys
folder = sys.argv[1]
all = {}
for kind in ("STREAM", "DGRAM", "SEQPACKET"):
    for address in (f"{folder}/{kind}", f"\\0{folder}-{kind}"):
        s = socket.socket(socket.AF_UNIX, getattr(socket, "SOCK_" + kind))
        s.bind(address)
        if kind != "DGRAM": s.listen()
        all[s] = kind
os.chdir(folder)
s = socket.socket(socket.AF_UNIX)
s.bind("RELATIVE")
s.listen()
all[s] = "STREAM"
open(f"{folder}/ready", "w").close()
while True:
    for s in select.select(list(all), [], [])[0]:
        what = s.recv(99) if all[s] == "DGRAM" else s.accept()[0] and b"connected"
        with open(f"{folder}/arrived", "ab") as f: f.write(what + b"\\n")
`;

/** Tries every way to reach them. */
const CLIENT = `
import os, socket, sys
folder = sys.argv[1]
def attempt(what, act):
    try: act(); print("reached", what)
    except OSError as e: print("refused", what, e.errno)
def fresh(kind): return socket.socket(socket.AF_UNIX, getattr(socket, "SOCK_" + kind))
os.symlink(folder, "way")
for kind in ("STREAM", "DGRAM", "SEQPACKET"):
    for address in (f"{folder}/{kind}", f"way/{kind}", f"\\0{folder}-{kind}"):
        attempt(f"connect {kind} {address}", lambda: fresh(kind).connect(address))
    if kind == "DGRAM":
        for address in (f"{folder}/{kind}", f"\\0{folder}-{kind}"):
            attempt(f"sendto {address}", lambda: fresh(kind).sendto(b"sendto", address))
            attempt(f"sendmsg {address}", lambda: fresh(kind).sendmsg([b"sendmsg"], [], 0, address))
attempt("connect RELATIVE", lambda: fresh("STREAM").connect(f"{folder}/RELATIVE"))
`;

/** As if it were its own: bound by the same name, in a folder that changes places with the other one. */
const EXCHANGE = `
import os, socket, sys
folder = sys.argv[1]
os.rename(folder, folder + "-away")
os.mkdir(folder)
for name in ("STREAM", "RELATIVE"):
    own = socket.socket(socket.AF_UNIX)
    own.bind(f"{folder}/{name}")
    own.listen()
    globals()[name] = own
os.rename(folder, folder + "-own")
os.rename(folder + "-away", folder)
for name in ("STREAM", "RELATIVE"):
    try:
        socket.socket(socket.AF_UNIX).connect(f"{folder}/{name}")
        print("reached", name)
    except OSError as e: print("refused", name, e.errno)
socket.socket(socket.AF_UNIX).connect(f"{folder}-own/STREAM")
print("own is reached")
`;

let place: Shipped;

const arrived = () =>
  existsSync(join(place.outside, "arrived")) ? readFileSync(join(place.outside, "arrived"), "utf8") : "";

async function listen(): Promise<void> {
  place.start("/usr/bin/python3", place.write("listener.py", LISTENER, place.outside), place.outside);
  await until(isThere(join(place.outside, "ready")), "the listener is ready");
}

asEachUser(
  (fresh) => {
    place = fresh;
  },
  () => {
    it("the attacks work without HERMES", async () => {
      await listen();
      const script = place.write("client.py", CLIENT);
      const { stdout } = place.bare("/usr/bin/python3", script, place.outside);
      expect(stdout).not.toContain("refused");
      await until(() => arrived().includes("sendmsg"), "datagrams arrive");
    });

    const reaching = [
      "run -p workspace",
      "run -p readonly",
      "run -p no-network",
      "run -p untrusted",
      ...WAYS,
    ];
    it.each(reaching)("%s: no server outside is reached, by any kind of socket or name", async (way) => {
      await listen();
      place.write("client.py", CLIENT);
      const python = `/usr/bin/python3 client.py ${place.outside}`;
      const result =
        way.includes("untrusted") || way.includes("readonly")
          ? direct(way, `${place.workspace}/client.py`)
          : place.hermes(way, python);
      expect(result.stdout).not.toContain("reached");
      expect(`${result.stdout}${result.stderr}`).toContain("refused");
      expect(arrived()).toBe("");
    });

    /** Without a shell in between: one program, and a folder that nothing is written to. */
    function direct(way: string, script: string) {
      place.write(
        "client.py",
        CLIENT.replace('os.symlink(folder, "way")', "").replace('f"way/{kind}", ', ""),
      );
      const words = [...way.split(" "), "--", "/usr/bin/python3", script, place.outside];
      return place.bare(place.program, ...words);
    }

    it.each(["run -p agent", "exec"])(
      "%s: a folder that changes places makes no socket one's own",
      async (way) => {
        const folder = join(place.workspace, "served");
        place.bare("mkdir", folder);
        place.start("/usr/bin/python3", place.write("listener.py", LISTENER, place.outside), folder);
        await until(isThere(join(folder, "ready")), "the listener is ready");
        place.write("exchange.py", EXCHANGE);
        const { stdout } = place.hermes(way, `/usr/bin/python3 exchange.py ${folder}`);
        expect(stdout.split("\n").slice(0, 3)).toEqual([
          expect.stringMatching(/^refused STREAM 13/),
          expect.stringMatching(/^refused RELATIVE 13/),
          "own is reached",
        ]);
      },
    );

    it.skipIf(!has("tmux")).each(WAYS)("%s: tmux runs no command outside", async (way) => {
      const socket = join(place.outside, "tmux");
      const mark = (name: string) => join(place.outside, name);
      expect(place.bare("tmux", "-S", socket, "new-session", "-d", "sleep 600").status).toBe(0);
      try {
        place.hermes(way, `tmux -S ${socket} new-window 'touch ${mark("escaped")}'`);
        place.bare("tmux", "-S", socket, "new-window", `touch ${mark("later")}`);
        await until(isThere(mark("later")), "tmux serves those outside");
        expect(existsSync(mark("escaped"))).toBe(false);
      } finally {
        place.bare("tmux", "-S", socket, "kill-server");
      }
    });

    it.skipIf(!has("screen")).each(["run -p agent", "exec"])(
      "%s: screen runs no command outside",
      async (way) => {
        const folder = join(place.outside, "screens");
        const screen = `env SCREENDIR=${folder} screen`;
        const mark = (name: string) => join(place.outside, name);
        place.bare("mkdir", "-m", "700", folder);
        place.start(..."env SCREENDIR=".concat(folder, " screen -D -m -S victim sleep 600").split(" "));
        const ask = (name: string) =>
          place.bare("sh", "-c", `${screen} -S victim -X screen touch ${mark(name)}`);
        await until(
          () => ask("before").status === 0 && existsSync(mark("before")),
          "screen serves those outside",
        );
        place.hermes(way, `${screen} -S victim -X screen touch ${mark("escaped")}`);
        ask("later");
        await until(isThere(mark("later")), "screen serves those outside");
        expect(existsSync(mark("escaped"))).toBe(false);
      },
    );
  },
);

function has(program: string): boolean {
  return spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
}
