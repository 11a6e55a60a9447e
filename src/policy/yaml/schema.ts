import * as z from "zod";
import { LEVELS, REQUIRABLE } from "../../nouns/protection.js";

/** The shape of a policy file. The compiler of the rules checks the meaning. */

const scalar = (what: string) => z.union([z.string(), z.number(), z.boolean()], { error: `takes ${what}` });
const oneOrMore = (what: string) =>
  z.union(
    [
      z.string(),
      z.number(),
      z.boolean(),
      z.array(z.union([z.string(), z.number(), z.boolean()], { error: "each is a text" })).min(1, {
        error: "is an empty list, which would match nothing: leave the key out, or list something",
      }),
    ],
    { error: `takes ${what}, or a list of them` },
  );
const names = z
  .union(
    [
      z.string(),
      z
        .array(z.string({ error: "each is a word" }))
        .min(1, { error: "is an empty list: name what the rule is about" }),
    ],
    {
      error: "takes an effect (read, write, connect …), a class or a system call, or a list of them",
    },
  )
  .optional();
const number = (what: string) => z.union([z.int(), z.string()], { error: `takes ${what}` });
const oneOrMoreNumbers = (what: string) =>
  z.union([z.int(), z.string(), z.array(z.union([z.int(), z.string()])).min(1)], {
    error: `takes ${what} such as 7 or 0x80000001, or a list of them`,
  });
const wholeNumber = (what: string) => z.int({ error: `takes a whole number: ${what}` }).nonnegative();

const when = z.strictObject(
  {
    nth: wholeNumber("which of the matching calls")
      .min(1)
      .optional()
      .describe("Only this one of the matching calls, counted from 1."),
    from: wholeNumber("from which of the matching calls on")
      .min(1)
      .optional()
      .describe("This one and those after it."),
    step: wholeNumber("every how many").min(1).optional().describe("Every so many of them."),
    probability: z
      .number({ error: "takes a number from 0 to 1" })
      .min(0)
      .max(1)
      .optional()
      .describe("Each with this chance."),
    seed: z.int({ error: "takes a whole number" }).optional().describe("Makes the chances repeatable."),
  },
  { error: "takes nth, from, step, probability and seed" },
);

const paths = (what: string) =>
  z.union([z.string(), z.array(z.string({ error: "each is a path" }))], {
    error: `takes a path that may be ${what}, or a list of them`,
  });
const ports = z.array(z.int({ error: "each is a port" }).min(0).max(65_535, { error: "is no TCP port" }), {
  error: "takes a list of TCP ports",
});

const bits = z.strictObject(
  {
    all: z.array(scalar("a bit")).optional().describe("Every one of these is set."),
    any: z.array(scalar("a bit")).optional().describe("At least one of these."),
    none: z.array(scalar("a bit")).optional().describe("Not one of these."),
  },
  { error: "takes { all, any, none }, each a list of bits" },
);

const example = z.record(z.string(), z.unknown(), {
  error: "an example is a map such as { read: ~/.ssh/id_rsa }",
});

export const ruleSchema = z.strictObject(
  {
    id: z
      .string({ error: "takes a short name for records" })
      .regex(/^[\w][\w.-]*$/, { error: "takes letters, digits, - _ and ." })
      .describe("Names the rule in records and messages."),
    allow: names.describe("Let it happen."),
    deny: names.describe("Refuse it with an error."),
    kill: names.describe("End the program."),
    ask: names.describe("Let a person decide."),
    watch: names.describe("Record it; the rules below still decide."),
    redirect: names.describe("Let it happen to another file or address (to)."),
    modify: names.describe("Let it happen with other arguments (args) or data."),
    emulate: names.describe("Answer in the kernel's place (result, data, content)."),
    fault: names.describe("Let it go wrong (errno, delay, signal, short)."),

    call: oneOrMore('a function such as "libc!getenv"')
      .optional()
      .describe(
        "Which functions inside the program, with an action on `call` or `return`: libc!getenv, libssl!SSL_write*, app!0x1234, app!/55 48 89 e5/.",
      ),
    path: oneOrMore("a path pattern")
      .optional()
      .describe(`Which files: globs, ~, \${variables}, !exceptions.`),
    unless_made: z
      .enum(["project", "folder", "file"], { error: "takes project, folder or file" })
      .optional()
      .describe(
        "Not where this run made the file (file), the folder that it lies in (folder), or the folder that the pattern's first name lies in (project).",
      ),
    address: oneOrMore("an address")
      .optional()
      .describe(
        'Which addresses: 10.0.0.0/8, 1.2.3.4:80, "*:53", unix:/path, loopback, private, metadata, host names; !exceptions.',
      ),
    argv: oneOrMore("a word of a command line")
      .optional()
      .describe("How the command line begins: a pattern per word, ** for any number of words."),
    argv_matches: z
      .string({ error: "takes a regular expression (RE2)" })
      .optional()
      .describe("A regular expression (RE2) on the words joined by spaces."),
    env: z
      .union(
        [
          z.string(),
          z.array(z.string()).min(1, { error: "is an empty list" }),
          z.record(z.string(), scalar("a pattern")),
        ],
        { error: "takes names, or a map of names to patterns" },
      )
      .optional()
      .describe(
        "Environment of the program to be run: names that are set (!NAME: not set), or patterns of their values.",
      ),
    user: oneOrMore("a user name or number").optional().describe("Who asks: names or uids, !exceptions."),
    process: z
      .union(
        [
          z.string(),
          z.strictObject({
            exe: oneOrMore("a path pattern").optional(),
            ancestor: oneOrMore("a path pattern").optional(),
            cwd: oneOrMore("a path pattern").optional(),
            program: oneOrMore("a path pattern").optional(),
            depth: z
              .union([z.int().min(0), z.array(z.int().min(0)).min(1, { error: "is an empty list" })], {
                error: "takes 0 for the run's program, 1 for its children …",
              })
              .optional(),
          }),
        ],
        { error: "takes a path pattern of the program, or { exe, ancestor, cwd, program, depth }" },
      )
      .optional()
      .describe("Which program asks."),
    fd: z
      .union(
        [
          z.int(),
          z.string(),
          z.array(z.int()).min(1, { error: "is an empty list" }),
          z.strictObject({
            number: z.union([z.int(), z.array(z.int()).min(1)]).optional(),
            target: oneOrMore("a path pattern").optional(),
            kind: z
              .enum(["file", "pipe", "socket", "anonymous", "closed"], {
                error: "takes file, pipe, socket, anonymous or closed",
              })
              .optional(),
          }),
        ],
        { error: "takes a descriptor number, a path pattern, or { number, target, kind }" },
      )
      .optional()
      .describe("The first descriptor of the call."),
    flags: z
      .union(
        [
          z.string(),
          z.array(z.string()).min(1, { error: "is an empty list" }),
          z.strictObject({
            all: z.array(z.string()).optional(),
            any: z.array(z.string()).optional(),
            none: z.array(z.string()).optional(),
          }),
        ],
        { error: "takes flag names, or { all, any, none }" },
      )
      .optional()
      .describe("Flags of the call, by their kernel names."),
    where: z
      .record(
        z.string(),
        z.union([oneOrMore("a value or a comparison"), bits], {
          error: "takes a value, a comparison, a list of them, or bits: { all, any, none }",
        }),
        { error: 'takes a map of arguments to comparisons: { len: "> 1MB" }' },
      )
      .optional()
      .describe(
        "Comparisons of arguments by their kernel names: one of a list, and none that is negated (!=). Or bits that they have: { all, any, none }.",
      ),
    target: oneOrMore("own, session, outside, parent, group or any")
      .optional()
      .describe(
        "signal, ptrace, limit, share: whom it reaches. own: the caller; session: processes and shared objects of this run; outside: all others; of signals also parent and group (those of its process group); !exceptions. Where a signal reaches several, each is judged.",
      ),
    family: oneOrMore("an address family such as AF_INET")
      .optional()
      .describe("socket, socketpair: which families; !exceptions."),
    type: oneOrMore("a socket type such as SOCK_STREAM")
      .optional()
      .describe(
        "socket, socketpair: which types, regardless of SOCK_NONBLOCK and SOCK_CLOEXEC; !exceptions.",
      ),
    stack: oneOrMore("a module or a function such as libcurl or libcurl!curl_*")
      .optional()
      .describe(
        "What is on the stack: a module, or module!function; globs, !exceptions. Takes the trace door.",
      ),
    caller: oneOrMore("a module or a function such as libcurl or libcurl!curl_*")
      .optional()
      .describe("Who made the call: the innermost function outside the C library. Takes the trace door."),
    time: oneOrMore("hours such as 09:00-17:00 or mon-fri 22:00-06:00")
      .optional()
      .describe("When: hours of the day and days of the week."),
    rate: z
      .string({ error: "takes a rate such as 100/minute" })
      .optional()
      .describe("A budget: allow rules hold within it, all others beyond it."),
    when: when.optional().describe("Which of the matching calls."),

    errno: scalar("an error name such as ENOENT")
      .optional()
      .describe("deny, fault: the error that the program sees."),
    to: z.string({ error: "takes a path or an address" }).optional().describe("redirect: where to."),
    args: z
      .record(z.string(), scalar("a number or a text"))
      .optional()
      .describe("modify: new values of arguments."),
    data: z
      .union([z.string(), z.record(z.string(), scalar("a text"))], {
        error: "takes a text, { base64 } or { hex }, or for uname its fields",
      })
      .optional()
      .describe("modify, emulate: the data."),
    result: z
      .union([z.int(), z.string()], { error: "takes a whole number" })
      .optional()
      .describe("emulate: what the call returns."),
    content: z
      .string({ error: "takes a text" })
      .optional()
      .describe("emulate: the content of the file that is opened."),
    delay: z
      .union([z.number(), z.string()], { error: "takes a duration such as 20ms or 1.5s" })
      .optional()
      .describe("fault: how long the call is held."),
    signal: oneOrMore("a signal name such as SIGTERM")
      .optional()
      .describe("Which signals are sent; !exceptions. With fault: a signal that comes with it."),
    short: z
      .union([z.int(), z.string()], { error: "takes a size such as 512 or 1KB" })
      .optional()
      .describe("fault: at most so many bytes are transferred."),

    leaf: oneOrMoreNumbers("a leaf").optional().describe("cpuid: which leaf (eax) is asked for."),
    subleaf: oneOrMoreNumbers("a subleaf").optional().describe("cpuid: which part of it (ecx)."),
    value: number("a whole number").optional().describe("emulate, modify: what a counter shows."),
    registers: z
      .record(z.string(), number("a whole number"), { error: "takes a map such as { eax: 0 }" })
      .optional()
      .describe("emulate, modify: registers, for rules about instructions."),
    clear: z
      .union(
        [
          z
            .array(z.string({ error: "each is a feature such as avx2" }))
            .min(1, { error: "is an empty list" }),
          z.record(
            z.string(),
            z.union(
              [
                z.int().min(0).max(31),
                z.string(),
                z.array(z.union([z.int().min(0).max(31), z.string()])).min(1),
              ],
              {
                error: "takes features or bits, such as [avx2] or 5",
              },
            ),
          ),
        ],
        { error: "takes features such as [avx2, rdrand], or bits of registers: { ebx: [5] }" },
      )
      .optional()
      .describe("modify cpuid: features that the machine is said not to have."),

    reason: z
      .string({ error: "takes a text" })
      .optional()
      .describe("Why: for the person or agent that meets the rule."),
    examples: z
      .strictObject(
        {
          match: z.array(example).optional().describe("The rule holds for these."),
          not_match: z.array(example).optional().describe("The rule does not hold for these."),
        },
        { error: "takes match and not_match" },
      )
      .optional()
      .describe("Checked whenever the file is loaded."),
  },
  { error: "a rule is a map: action first, then what it is about" },
);

export const fenceSchema = z.strictObject(
  {
    level: z
      .enum(LEVELS, { error: `takes ${LEVELS.join(", ")}` })
      .optional()
      .describe("At least this one."),
    readable: paths("read")
      .optional()
      .describe("The only folders and files that may be read, besides the system's."),
    writable: paths("changed").optional().describe("The only folders and files that may be changed."),
    also_writable: paths("changed")
      .optional()
      .describe("strict: folders and files that may be changed beside the workspace, where they exist."),
    hidden: paths("hidden").optional().describe("Folders and files that are not to be seen."),
    connect_ports: ports.optional().describe("The only TCP ports that may be connected to."),
    bind_ports: ports.optional().describe("The only TCP ports that may be listened on."),
    network: z
      .enum(["own", "host"], { error: "takes own or host" })
      .optional()
      .describe("own: a private loopback and nothing else."),
    memory: z
      .union([z.int().positive(), z.string()], { error: "takes a size such as 512MB" })
      .optional()
      .describe("For all processes together."),
    processes: wholeNumber("how many processes and threads")
      .min(1)
      .optional()
      .describe("How many at a time."),
    cpus: z
      .number({ error: "takes a number such as 1.5" })
      .positive({ error: "takes a number above 0" })
      .optional()
      .describe("How many CPUs' worth of time."),
    keep_env: z
      .array(z.string({ error: "each is a variable's name" }), { error: "takes a list of names" })
      .optional()
      .describe("Variables that a clean environment keeps; * is any text."),
    set_env: z
      .record(
        z.string().regex(/^\w+$/, { error: "is not a variable's name" }),
        z.string({ error: "takes a text" }),
      )
      .optional()
      .describe("Variables that the program gets."),
  },
  { error: "takes a map: level, writable, readable …" },
);

export const policySchema = z.strictObject(
  {
    $schema: z.string().optional().describe("For editors."),
    name: z
      .string({ error: "takes a text" })
      .min(1, { error: "is empty" })
      .describe("Names the policy in records."),
    description: z.string({ error: "takes a text" }).optional(),
    requires: z
      .array(
        z.enum(REQUIRABLE, {
          error: `takes ${REQUIRABLE.slice(0, -1).join(", ")} or ${REQUIRABLE.at(-1)}`,
        }),
        { error: "takes a list" },
      )
      .optional()
      .describe("The run does not start without these."),
    fence: fenceSchema.optional().describe("What holds around the program without a rule being asked."),
    default: z
      .enum(["allow", "deny", "ask"], { error: "takes allow, deny or ask" })
      .optional()
      .describe("What happens to files, addresses, programs and processes that no rule speaks of."),
    variables: z
      .record(z.string(), oneOrMore("a text"), { error: "takes a map of names to texts" })
      .optional()
      .describe(`Texts to be used as \${name} in patterns.`),
    include: oneOrMore("a policy file")
      .optional()
      .describe("Files whose rules come before the rules of this one."),
    extends: z
      .string({ error: "takes a policy file, or the name of one that comes with HERMES" })
      .optional()
      .describe(
        "A file whose rules come after the rules of this one, and whose default and variables hold where this one has none.",
      ),
    rules: z
      .array(ruleSchema, { error: "takes a list of rules" })
      .optional()
      .describe("Tried in order; the first that matches decides."),
  },
  { error: "a policy is a map with a name and rules" },
);

export type RuleSpec = z.infer<typeof ruleSchema>;
export type FenceSpec = z.infer<typeof fenceSchema>;
export type PolicyFile = z.infer<typeof policySchema>;
