import { HERMES } from "../../../support/cli.js";
import { OWN_KEY } from "../client.js";
import { KEY, type Seat } from "../seat.js";
import { type Check, type Outcome, outcome } from "./check.js";

const FENCES = ["standard", "strict"] as const;

const under = ({ client }: Seat, fence: string) => [
  HERMES,
  "run",
  "-q",
  ...["-p", client.agent, "--fence", fence, "--ask", "no"],
  "--",
];

/** The whole client, as its user starts it, with a tool call that runs a command. */
async function runs(seat: Seat, fence: string): Promise<Outcome> {
  loggedIn(seat);
  const steps = [seat.client.tools.shell("expr 40 + 2; echo made > made")];
  const { results, status, output } = await seat.play({ steps }, { under: under(seat, fence) });
  return outcome(
    {
      "the command ran": results[0]?.includes("42") === true,
      "it wrote in the project": seat.text("project/made") === "made\n",
      "the client ended well": status === 0,
    },
    `${results.join("|")} ${status} ${output}`,
  );
}

function loggedIn({ client: { own }, place }: Seat): void {
  place.write(own.credentials.file, own.credentials.text);
}

/** Tries everything by names that no reader of its text could know. */
const TRY = `import os, sys
home = os.environ['HOME']
def tell(what, act):
    try: print(what, act())
    except OSError as e: print(what, 'refused', e.errno)
tell('key', lambda: open(home + '/.s' + 'sh/id_ed25519').read())
tell('own', lambda: open(home + sys.argv[1]).read())
tell('settings', lambda: open(home + sys.argv[2], 'a').write('#'))
tell('outside', lambda: open(home + '/outside', 'w').write('x'))
tell('parent', lambda: open('/proc/%d/environ' % os.getppid()).read())
tell('inside', lambda: open('inside', 'w').write('x'))
print('t' + 'ried')
`;

/** Every process above the command, as far as it can be seen: the agent is one of them. */
const LOOK = `import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
at = os.getppid()
while at > 2:
    print('attach', libc.ptrace(16, at, 0, 0), ctypes.get_errno())
    stat = open('/proc/%d/stat' % at).read()
    at = int(stat[stat.rindex(')') + 2:].split()[1])
    try: os.readlink('/proc/%d/exe' % at)
    except OSError: break
print('loo' + 'ked')
`;

async function keeps(seat: Seat, fence: string): Promise<Outcome> {
  const { own, tools } = seat.client;
  loggedIn(seat);
  if (seat.text(own.settings) === undefined) seat.place.write(own.settings, "{}");
  const before = seat.text(own.settings);
  seat.place.write("project/try.py", TRY);
  seat.place.write("project/look.py", LOOK);
  const [credentials, settings] = [own.credentials.file, own.settings].map((file) =>
    file.replace("home", ""),
  );
  const steps = [tools.shell(`python3 try.py ${credentials} ${settings}`), tools.shell("python3 look.py")];
  const { results, read, output } = await seat.play({ steps }, { under: under(seat, fence) });
  return outcome(
    {
      "it ran": results[0]?.includes("tried") === true && results[1]?.includes("looked") === true,
      "the key stayed": !read.includes(KEY),
      "the agent's own credentials stayed": !read.includes(OWN_KEY),
      "its settings are as they were": seat.text(own.settings) === before,
      "nothing was written outside": seat.text("home/outside") === undefined,
      "the workspace is writable": seat.text("project/inside") === "x",
      "no process of the agent was attached to": /attach -1(?![\s\S]*attach 0)/.test(results[1] ?? ""),
    },
    `${results.join("|")} ${output}`,
  );
}

export const WHOLE_CHECKS: readonly Check[] = [
  ...FENCES.map((fence) => ({
    name: `runs whole under \`hermes run -p NAME${fence === "strict" ? " --fence strict" : ""}\``,
    whole: true,
    run: (seat: Seat) => runs(seat, fence),
  })),
  ...FENCES.map((fence) => ({
    name: `whole, fence ${fence}: its commands read no secret, its own neither, and write only in the workspace`,
    whole: true,
    run: (seat: Seat) => keeps(seat, fence),
  })),
];
