import { TOOLS_POLICY } from "../../nouns/allowance.js";
import { type AllowEntry, allowancesOf } from "./config/allow.js";
import { type Action, type Finding, findings, strictest } from "./finding.js";
import { type Context, type Layer, NO_FILES } from "./layer.js";
import type { Kind, Subject } from "./subject.js";

/**
 * READ FIRST for the intent plane: what an agent asks for is judged before it happens.
 *
 *     subject ──► layers, in order ──► findings ──► configured actions ──► the strictest action wins
 *
 * - A *subject* is one request: a command, a URL, a path, a text … (`subject.ts`).
 * - A *layer* judges some kinds of subject (`layer.ts`): `check` without I/O, `lookup` with the network.
 * - A *finding* names a rule, an action, a reason and a place in the input (`finding.ts`). No finding means: allowed.
 *
 * The layers (`layers.ts` has the order), each with its rules as tables of rows:
 *
 *     command      what a shell command would run, after unwrapping, expansion and decoding
 *     python       what a Python script would do, from its syntax tree
 *     paths        whether a path stays inside the workspace, in every way to read it
 *     files        devices, system files, secrets and files that run code later
 *     credentials  variables and text that would leak a secret
 *     urls         whether a request stays on the internet: no private, metadata or disguised address
 *     content      deception in text: look-alike hosts, hidden characters, prompt injection
 *     memory       what an agent may remember
 *     skills       instructions and scripts of a skill, before it is installed
 *     delegation   what an agent may pass to an agent that it starts
 *     mcp          MCP servers, their tools, outputs and requests
 *     patterns     the user's own regular expressions
 *
 * Layers do not import each other. A layer that finds another subject inside its own (the code of `python3 -c`) passes it
 * to all layers with `context.inspect`. A layer that fails denies.
 */
export interface Judgement {
  /** The strictest action of all findings. */
  readonly action: Action;
  readonly findings: readonly Finding[];
}

export interface GuardOptions extends Partial<Omit<Context, "inspect" | "within">> {
  /** The configured actions of single rules: `{ "git-push": "ask" }`. `allow` keeps the finding as a note. */
  readonly actions?: Readonly<Record<string, Action>>;
  /** The minimum actions that a project demands of single rules. */
  readonly atLeast?: Readonly<Record<string, Action>>;
}

/** Honest input does not nest subjects deeper than this. */
const MAX_DEPTH = 8;
const MAX_LENGTH = 1 << 20;

const core = findings("guard");

export class Guard {
  readonly #layers: readonly Layer[];
  readonly #actions: Readonly<Record<string, Action>>;
  readonly #atLeast: Readonly<Record<string, Action>>;
  readonly #world: Omit<Context, "inspect" | "within">;
  readonly #byKind = new Map<Kind, readonly Layer[]>();
  readonly #contexts: Context[] = [];

  constructor(layers: readonly Layer[], { actions, atLeast, ...world }: GuardOptions = {}) {
    this.#layers = layers;
    this.#actions = actions ?? {};
    this.#atLeast = atLeast ?? {};
    const { workspace = "/workspace", home = "/home/user", config = {} } = world;
    const entries = (config.allow as readonly AllowEntry[] | undefined) ?? [];
    this.#world = {
      profile: "standard",
      cwd: workspace,
      home,
      config,
      files: NO_FILES,
      allowed: allowancesOf(entries, workspace, home).filter(({ policies }) =>
        policies.includes(TOOLS_POLICY),
      ),
      ...world,
      workspace,
    };
  }

  /** Judges a subject without the network. */
  check(subject: Subject): Judgement {
    return strictestOf(this.#check(subject, 0));
  }

  /** The same, and then the network lookups, unless the check already denied. */
  async judge(subject: Subject): Promise<Judgement> {
    const checked = this.check(subject);
    if (checked.action === "deny") return checked;
    const lookups = this.#layersFor(subject).map((layer) => this.#lookUp(layer, subject));
    return strictestOf([...checked.findings, ...(await Promise.all(lookups)).flat()]);
  }

  /** How the layers read the subject, line by line. */
  explain(subject: Subject): readonly string[] {
    return this.#layersFor(subject).flatMap((layer) => layer.explain?.(subject, this.#context(0)) ?? []);
  }

  /** Which parts of the subject the runtime check decides again, and which no later check sees. */
  explainLater(subject: Subject): readonly string[] {
    return this.#layersFor(subject).flatMap((layer) => layer.explainLater?.(subject, this.#context(0)) ?? []);
  }

  #check(subject: Subject, depth: number): readonly Finding[] {
    if (depth > MAX_DEPTH || subject.input.length > MAX_LENGTH)
      return [core.deny("too-large", "The input is too long, or nested too deep, to be judged.")];
    return this.#layersFor(subject).flatMap((layer) => {
      try {
        return layer.check(subject, this.#context(depth)).map(this.#configured);
      } catch (error) {
        return [failed(layer, error)];
      }
    });
  }

  async #lookUp(layer: Layer, subject: Subject): Promise<readonly Finding[]> {
    try {
      const found = (await layer.lookup?.(subject, this.#context(0))) ?? [];
      return found.map(this.#configured);
    } catch (error) {
      return [this.#configured(failed(layer, error))];
    }
  }

  #layersFor({ kind }: Subject): readonly Layer[] {
    const known = this.#byKind.get(kind) ?? this.#layers.filter((layer) => layer.kinds.includes(kind));
    this.#byKind.set(kind, known);
    return known;
  }

  /** One context per depth: they differ only in the depth of inner subjects. */
  #context(depth: number): Context {
    this.#contexts[depth] ??= {
      ...this.#world,
      within: depth > 0,
      inspect: (inner) => this.#check(inner, depth + 1),
    };
    return this.#contexts[depth];
  }

  #configured = (finding: Finding): Finding => {
    const { rule } = finding;
    const action = strictest(this.#actions[rule] ?? finding.action, this.#atLeast[rule] ?? "allow");
    return action === finding.action ? finding : { ...finding, action };
  };
}

function strictestOf(all: readonly Finding[]): Judgement {
  return {
    action: all.reduce<Action>((action, finding) => strictest(action, finding.action), "allow"),
    findings: all,
  };
}

/** A layer that fails must not allow anything. */
function failed(layer: Layer, error: unknown): Finding {
  return findings(layer.name).deny("failed", `The layer ${layer.name} failed: ${(error as Error).message}`);
}
