import { constantMethod, FUNCTIONS } from "./constants.js";
import { isPowerful, TELLING_METHODS } from "./dangers.js";
import { dumpsEnvironment, HARMLESS_WITH_ENVIRON, readsVariable, setsVariable } from "./environment.js";
import type { Evaluator } from "./evaluate.js";
import { goesThrough, judgeFileUse, judgeMentions } from "./files.js";
import { judgeUnpickled, KNOWN_CALLS } from "./known-calls.js";
import { isWebClient, judgeRequest } from "./requests.js";
import { PythonScope } from "./scope.js";
import type { SyntaxNode } from "./tree.js";
import { any, elements, knownText, list, options, PY_UNKNOWN, type PyValue, pyText, ref } from "./value.js";

export interface PyArguments {
  readonly positional: PyValue[];
  readonly keywords: Map<string, PyValue>;
  /** There are further, unknown arguments (`*args`, `**kwargs`). */
  open: boolean;
}

const DEEPEST = 8;
/** How many function calls of one script are followed for their results. */
const MOST_CALLS = 300;

/** Judges a call, and evaluates its result. */
export function apply(
  machine: Evaluator,
  callee: PyValue,
  args: PyArguments,
  node: SyntaxNode,
  scope: PythonScope,
): PyValue {
  if (machine.depth > DEEPEST) return PY_UNKNOWN;
  machine.depth++;
  try {
    return applied(machine, callee, args, node, scope);
  } finally {
    machine.depth--;
  }
}

function applied(
  machine: Evaluator,
  callee: PyValue,
  args: PyArguments,
  node: SyntaxNode,
  scope: PythonScope,
): PyValue {
  if (callee.t !== "function" && !(callee.t === "ref" && HARMLESS_WITH_ENVIRON.has(callee.path)))
    reportEnviron(machine, args, node);
  switch (callee.t) {
    case "ref":
      return callRef(machine, callee.path, args, node, scope);
    case "member":
      return callMember(machine, callee, args, node, scope);
    case "function":
      return callFunction(machine, callee, args);
    case "partial":
      return apply(
        machine,
        callee.of,
        { ...args, positional: [...callee.args, ...args.positional] },
        node,
        scope,
      );
    case "result":
      return callResult(machine, callee, args, node, scope);
    case "unknown":
      judgeMentions(machine.report, args.positional, node);
      return PY_UNKNOWN;
    default:
      return PY_UNKNOWN;
  }
}

/** The whole environment may be passed to a child (`env=`), and to nothing else. */
function reportEnviron({ report }: Evaluator, args: PyArguments, node: SyntaxNode): void {
  const given = [
    ...args.positional,
    ...[...args.keywords].filter(([name]) => name !== "env").map(([, value]) => value),
  ];
  if (given.some((value) => options(value).some(({ t }) => t === "environ"))) dumpsEnvironment(report, node);
}

type Special = (machine: Evaluator, args: PyArguments, node: SyntaxNode, scope: PythonScope) => PyValue;

/** Calls that return another name for something. */
const SPECIAL: Readonly<Record<string, Special>> = {
  "builtins.getattr": (machine, { positional: [of, name, fallback] }, node) => {
    const found = options(of ?? PY_UNKNOWN).flatMap((subject) =>
      options(name ?? PY_UNKNOWN).map((option) => attributeByText(machine, subject, option, node)),
    );
    return any(fallback ? [...found, fallback] : found);
  },
  "builtins.__import__": importByText,
  "importlib.import_module": importByText,
  "importlib.__import__": importByText,
  "builtins.__loader__.load_module": importByText,
  "imp.find_module": importByText,
  "pydoc.locate": (machine, args, node) => {
    const name = knownText(args.positional[0]);
    return name === undefined ? importByText(machine, args, node) : judged(machine, ref(name), node);
  },
  "pkgutil.resolve_name": (machine, args, node) => {
    const name = knownText(args.positional[0]);
    return name === undefined
      ? importByText(machine, args, node)
      : judged(machine, ref(name.replace(":", ".")), node);
  },
  "builtins.vars": (_, { positional: [of] }) =>
    of?.t === "ref" ? ref(`${of.path}.__dict__`) : { t: "result", of: "builtins.vars", args: of ? [of] : [] },
  "functools.partial": (_, { positional: [of, ...rest] }) =>
    of ? { t: "partial", of, args: rest } : PY_UNKNOWN,
  "functools.reduce": (machine, { positional: [act, items, start] }, node) => {
    const names = items && elements(items);
    if (act?.t !== "ref" || act.path !== "builtins.getattr" || !names || !start) return PY_UNKNOWN;
    return names.reduce((value, name) => attributeByText(machine, value, name, node), start);
  },
  "builtins.map": (machine, { positional: [act, items], open }, node, scope) => {
    const known = items && elements(items);
    if (!act || !known || known.length > 1024) return PY_UNKNOWN;
    return list(
      known.map((value) =>
        apply(machine, act, { positional: [value], keywords: new Map(), open }, node, scope),
      ),
    );
  },
  "builtins.filter": (_, { positional: [, items] }) => items ?? PY_UNKNOWN,
  "builtins.next": (_, { positional: [items] }) => (items && elements(items)?.[0]) ?? PY_UNKNOWN,
  "builtins.dict": (_, { positional: [of], keywords }) =>
    of?.t === "environ" || of?.t === "dict" ? of : { t: "dict", entries: new Map(keywords) },
  "builtins.type": (_, { positional: [of] }) => ({ t: "member", of: of ?? PY_UNKNOWN, name: "__class__" }),
  "copy.copy": (_, { positional: [of] }) => of ?? PY_UNKNOWN,
  "copy.deepcopy": (_, { positional: [of] }) => of ?? PY_UNKNOWN,
  "os.getenv": (machine, { positional: [name] }, node) => {
    readsVariable(machine.report, name, node);
    return PY_UNKNOWN;
  },
  "os.putenv": (machine, { positional: [name, value] }, node) => {
    if (name && value) setsVariable(machine.report, name, value, node);
    return PY_UNKNOWN;
  },
  "os.getcwd": () => pyText("."),
  "pathlib.Path.cwd": () => ({ t: "path", v: "." }),
  "pathlib.Path.home": () => ({ t: "path", v: "~" }),
  "pathlib.Path": pathOf,
  "pathlib.PurePath": pathOf,
  "pathlib.PosixPath": pathOf,
  "pathlib.PurePosixPath": pathOf,
  "pathlib.WindowsPath": pathOf,
};

function pathOf(_: Evaluator, { positional }: Pick<PyArguments, "positional">): PyValue {
  if (positional.length === 0) return { t: "path", v: "." };
  const joined = FUNCTIONS["os.path.join"]!(positional);
  return joined?.t === "text"
    ? { t: "path", v: joined.v }
    : (joined ?? { t: "result", of: "pathlib.Path", args: [] });
}

function attributeByText(machine: Evaluator, of: PyValue, name: PyValue, node: SyntaxNode): PyValue {
  const known = knownText(name);
  if (known !== undefined) return judged(machine, machine.attribute(of, known, node), node);
  if (of.t === "ref" && isPowerful(of.path))
    machine.report.add(
      "deny",
      "python-dynamic",
      `The part of ${of.path} that this uses is known only at run time.`,
      node,
    );
  return PY_UNKNOWN;
}

/** A name built from text is judged like a literal one. */
function judged(machine: Evaluator, value: PyValue, node: SyntaxNode): PyValue {
  machine.judgeBuilt(value, node);
  return value;
}

function importByText(machine: Evaluator, { positional: [name] }: PyArguments, node: SyntaxNode): PyValue {
  return any(
    options(name ?? PY_UNKNOWN).map((option) => {
      const known = knownText(option);
      if (known === undefined) {
        machine.report.add(
          "ask",
          "python-dynamic-import",
          "The module that this loads is known only at run time.",
          node,
        );
        return PY_UNKNOWN;
      }
      if (isPowerful(known.split(".")[0]!))
        machine.report.add(
          "ask",
          "python-dynamic-import",
          `This loads ${known} by its name as text.`,
          node,
          `Write: import ${known}`,
        );
      return judged(machine, ref(known), node);
    }),
  );
}

function callRef(
  machine: Evaluator,
  path: string,
  args: PyArguments,
  node: SyntaxNode,
  scope: PythonScope,
): PyValue {
  const special = Object.hasOwn(SPECIAL, path) ? SPECIAL[path] : undefined;
  if (special) return special(machine, args, node, scope);
  if (/^tempfile\.|\.TemporaryDirectory$|\.NamedTemporaryFile$/.test(path)) return { t: "temporary" };
  const dunder = /^(.*)\.(?:__getattribute__|__getattr__)$/.exec(path);
  if (dunder) return attributeByText(machine, ref(dunder[1]!), args.positional[0] ?? PY_UNKNOWN, node);
  const lookup = /^(.*?)(\.__dict__)?\.(?:get|pop|__getitem__)$/.exec(path);
  if (lookup && (lookup[2] || lookup[1] === "sys.modules" || lookup[1] === "builtins")) {
    const of = ref(lookup[1]!);
    const key = args.positional[0] ?? PY_UNKNOWN;
    return lookup[2]
      ? attributeByText(machine, of, key, node)
      : judged(machine, machine.itemOf(of, key, node), node);
  }
  if (path.endsWith(".__call__")) return callRef(machine, path.slice(0, -9), args, node, scope);
  if (machine.report.context.within && isWebClient(path)) judgeRequest(machine, args, node);
  const known = KNOWN_CALLS.find(({ names }) => names.has(path));
  if (known) known.check(machine, path, args, node);
  const pure = Object.hasOwn(FUNCTIONS, path) ? FUNCTIONS[path] : undefined;
  if (pure) {
    const value = pure(args.positional) ?? PY_UNKNOWN;
    machine.charge(value.t === "list" ? value.items.length >> 2 : (knownText(value)?.length ?? 0) >> 6);
    return value;
  }
  if (!known && !SPEAKS.test(path)) judgeMentions(machine.report, args.positional, node);
  return { t: "result", of: path, args: args.positional.slice(0, 8) };
}

/** Functions that only show or compare text. */
const SPEAKS =
  /^(?:builtins\.(?:print|len|repr|isinstance|hasattr|format|input|str|sorted|set|sum|min|max)|logging\.|warnings\.|re\.|os\.path\.|sys\.std|argparse\.|textwrap\.|fnmatch\.|click\.|unittest\.|pytest\.)/;

function callMember(
  machine: Evaluator,
  callee: PyValue & { t: "member" },
  args: PyArguments,
  node: SyntaxNode,
  scope: PythonScope,
): PyValue {
  const { of, name } = callee;
  if (name === "__class__" && of.t === "function")
    machine.report.add("deny", "python-exec", "This makes a function from code that cannot be read.", node);
  if (name === "__getattribute__" || name === "__getattr__")
    return attributeByText(machine, of, args.positional[0] ?? PY_UNKNOWN, node);
  if (name === "__getitem__" || (name === "get" && of.t !== "environ")) {
    const found = machine.itemOf(of, args.positional[0] ?? PY_UNKNOWN, node, scope);
    return found.t === "unknown" ? (args.positional[1] ?? PY_UNKNOWN) : judged(machine, found, node);
  }
  if (of.t === "environ") return callEnviron(machine, name, args, node);
  const constant = constantMethod(of, name, args.positional);
  if (constant) return constant;
  if (of.t === "dict" && name === "values") return list([...of.entries.values()]);
  if (of.t === "path" || of.t === "temporary" || (of.t === "result" && of.of === "pathlib.Path"))
    return callPath(machine, of, name, args, node);
  if (machine.report.context.within && of.t === "result" && isWebClient(of.of))
    judgeRequest(machine, args, node);
  callUnknown(machine, of, name, args, node);
  return { t: "result", of: `.${name}`, args: [of] };
}

const READING = new Set(["read_text", "read_bytes", "open", "iterdir", "glob", "rglob", "readlink"]);
const WRITING = new Set([
  "write_text",
  "write_bytes",
  "touch",
  "mkdir",
  "rename",
  "replace",
  "symlink_to",
  "hardlink_to",
  "chmod",
  "open",
]);

/** Methods of a known path, or of an object that is a path. */
function callPath(
  machine: Evaluator,
  of: PyValue,
  name: string,
  { positional }: PyArguments,
  node: SyntaxNode,
): PyValue {
  if (name === "unlink" || name === "rmdir") {
    machine.report.add("ask", "python-delete", `.${name}() deletes a file or folder.`, node);
    judgeFileUse(machine.report, of, "delete", node);
    return PY_UNKNOWN;
  }
  const mode = knownText(positional[0]);
  if (name === "open")
    judgeFileUse(machine.report, of, mode !== undefined && /[wax+]/.test(mode) ? "write" : "read", node);
  else if (name === "rglob" || name === "walk") goesThrough(machine.report, of, node);
  else if (READING.has(name)) judgeFileUse(machine.report, of, "read", node);
  else if (WRITING.has(name)) judgeFileUse(machine.report, of, "write", node);
  if (name === "rename" || name === "replace")
    judgeFileUse(machine.report, positional[0] ?? PY_UNKNOWN, "write", node);
  if (name === "joinpath") return pathOf(machine, { positional: [of, ...positional] });
  if (
    ["expanduser", "resolve", "absolute", "with_suffix", "as_posix", "__str__", "__fspath__"].includes(name)
  )
    return of;
  return READING.has(name) ? { t: "result", of: `.${name}`, args: [of] } : PY_UNKNOWN;
}

function callEnviron(
  machine: Evaluator,
  name: string,
  { positional }: PyArguments,
  node: SyntaxNode,
): PyValue {
  const { report } = machine;
  if (name === "copy") return { t: "environ" };
  if (name === "get" || name === "pop" || name === "__getitem__") readsVariable(report, positional[0], node);
  else if (name === "setdefault" || name === "__setitem__") {
    readsVariable(report, positional[0], node);
    if (positional[0] && positional[1]) setsVariable(report, positional[0], positional[1], node);
  } else if (!["update", "clear", "__contains__", "__delitem__"].includes(name))
    dumpsEnvironment(report, node);
  return PY_UNKNOWN;
}

const DESTRUCTIVE_SQL =
  /\b(?:drop\s+(?:table|database|schema|view|index|user|role)|truncate\s+(?:table\s+)?\w|delete\s+from\s+[\w."`[\]]+\s*(?:;|$))/i;

/** Objects of these types run text as code. */
const RUNS_TEXT = /^(?:pdb|bdb|trace|profile|cProfile|doctest|code)\./;
const UNPICKLERS = /^(?:_?pickle|cPickle|dill|cloudpickle|joblib)\.(?:\w+\.)?Unpickler$/;
const ARCHIVES = /^(?:zipfile|tarfile)\./;

/** Methods that use their text argument only as text. */
const SPEAKING_METHODS =
  /^(?:startswith|endswith|add_argument|add_option|info|debug|warning|error|write|print|append|split|find|count|index|replace|assert\w*|get|route|post|put|delete|include_router)$/;

/** A method of an unknown object: only its name and its arguments count. */
function callUnknown(
  machine: Evaluator,
  of: PyValue,
  name: string,
  { positional }: PyArguments,
  node: SyntaxNode,
): void {
  const { report } = machine;
  if (of.t === "result" && RUNS_TEXT.test(of.of) && knownText(positional[0]) !== undefined) {
    machine.script(knownText(positional[0])!, node);
    report.add("ask", "python-exec", "This runs text as code.", node);
  }
  if (of.t === "result" && UNPICKLERS.test(of.of) && name === "load")
    judgeUnpickled(machine, of.args[0] ?? PY_UNKNOWN, node);
  if (name === "enable_load_extension" || name === "load_extension")
    report.add("deny", "python-native", "This loads native code into a database process.", node);
  const telling = Object.hasOwn(TELLING_METHODS, name) ? TELLING_METHODS[name] : undefined;
  if (telling) report.add("ask", "python-dynamic", telling, node);
  if ((name === "kill" || name === "terminate") && of.t === "result" && of.of.startsWith("psutil."))
    report.add("ask", "python-kill", `.${name}() ends another program.`, node);
  if (name === "unlink" || (name === "rmdir" && positional.length === 0))
    report.add("ask", "python-delete", `.${name}() deletes a file or folder.`, node);
  const first = knownText(positional[0]);
  if (
    first !== undefined &&
    /^(?:execute|executescript|executemany|raw|query|run_sql|sql)$/.test(name) &&
    DESTRUCTIVE_SQL.test(first)
  )
    report.add("ask", "python-sql", "This drops or empties a table.", node);
  const speaks = of.t === "text" || SPEAKING_METHODS.test(name);
  if (!speaks || (of.t === "result" && ARCHIVES.test(of.of))) judgeMentions(report, positional, node);
}

/** `attrgetter("system")(os)` and `methodcaller("system", "id")(os)`. */
function callResult(
  machine: Evaluator,
  callee: PyValue & { t: "result" },
  args: PyArguments,
  node: SyntaxNode,
  scope: PythonScope,
): PyValue {
  const [name, ...rest] = callee.args;
  const subject = args.positional[0] ?? PY_UNKNOWN;
  if (callee.of === "operator.attrgetter") {
    const path = knownText(name)?.split(".");
    return path
      ? path.reduce((value, part) => attributeByText(machine, value, pyText(part), node), subject)
      : attributeByText(machine, subject, PY_UNKNOWN, node);
  }
  if (callee.of === "operator.itemgetter")
    return judged(machine, machine.itemOf(subject, name ?? PY_UNKNOWN, node), node);
  if (callee.of === "operator.methodcaller") {
    const method = attributeByText(machine, subject, name ?? PY_UNKNOWN, node);
    return apply(machine, method, { positional: rest, keywords: new Map(), open: false }, node, scope);
  }
  judgeMentions(machine.report, args.positional, node);
  return PY_UNKNOWN;
}

/** A function of the script: its body is judged anyway; short ones are followed for their result. */
function callFunction(
  machine: Evaluator,
  { node, scope }: PyValue & { t: "function" },
  args: PyArguments,
): PyValue {
  const calls = machine.calledWith.get(node) ?? [];
  if (calls.length < 8) machine.calledWith.set(node, [...calls, args]);
  const body = resultOf(node);
  // Recursion would be followed without end.
  if (!body || machine.followed.has(node) || ++machine.calls > MOST_CALLS) return PY_UNKNOWN;
  machine.followed.add(node);
  const inner = new PythonScope(scope);
  bindArguments(machine, node, inner, [args]);
  const value = machine.evaluate(body, inner);
  machine.followed.delete(node);
  return value;
}

/** The expression of a lambda, or of a function that only returns one. */
function resultOf(node: SyntaxNode): SyntaxNode | undefined {
  if (node.type === "LambdaExpression") return node.kids.at(-1);
  const body = node.kids.find(({ type }) => type === "Body");
  const statements = body?.kids.filter(({ type }) => type !== ":" && type !== "Comment") ?? [];
  const [only] = statements;
  return statements.length === 1 && only!.type === "ReturnStatement" ? only!.kids[1] : undefined;
}

/** Assigns a call's arguments to a function's parameters. */
export function bindArguments(
  machine: Evaluator,
  node: SyntaxNode,
  scope: PythonScope,
  calls: readonly PyArguments[],
): void {
  const parameters = machine.parameters(
    node.kids.find(({ type }) => type === "ParamList"),
    scope,
  );
  let position = 0;
  for (const { name, fallback, star } of parameters) {
    const at = star === "" ? position++ : position;
    const given = calls.map(({ positional, keywords }) => {
      if (star === "*") return list(positional.slice(at));
      if (star === "**") return { t: "dict", entries: keywords } as PyValue;
      return positional[at] ?? keywords.get(name) ?? fallback;
    });
    scope.set(name, given.length === 0 ? fallback : any(given), false);
  }
}
