import { type Action, type Finding, findings, strictest } from "./finding.js";
import { type Context, type Layer, NO_FILES } from "./layer.js";
import type { Kind, Subject } from "./subject.js";

/**
 * READ FIRST for the intent plane. A *subject* (a command, a URL, a path …) goes through an ordered list of *layers*
 * (`layers.ts`); each attaches *findings*; the strictest action of all of them holds. No finding means: allowed.
 *
 * A layer is a folder or file beside this one: its name, the kinds it looks at, one `check` (see `layer.ts`), and its
 * knowledge as tables of rows with a rule id, a reason and examples. Layers do not import each other. A layer that finds
 * another subject inside its own hands it back with `context.inspect`, and points the findings at where it was found.
 */
export interface Judgement {
  readonly action: Action;
  readonly findings: readonly Finding[];
}

export interface GuardOptions extends Partial<Omit<Context, "inspect" | "within">> {
  /** What configuration says of single rules: `{ "git-push": "ask" }`. `allow` leaves the finding as a note. */
  readonly actions?: Readonly<Record<string, Action>>;
  /** What a project demands of single rules: such a finding leads to this at least. */
  readonly atLeast?: Readonly<Record<string, Action>>;
}

/** Subjects inside subjects inside subjects: deeper than this is nothing that anybody writes in good faith. */
const DEPTH = 8;
const LENGTH = 1 << 20;

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
    const workspace = world.workspace ?? "/workspace";
    this.#world = {
      profile: "standard",
      cwd: workspace,
      home: "/home/user",
      config: {},
      files: NO_FILES,
      ...world,
      workspace,
    };
  }

  /** What can be known without asking anybody. */
  check(subject: Subject): Judgement {
    return judged(this.#check(subject, 0));
  }

  /** The same, and what the network knows. */
  async judge(subject: Subject): Promise<Judgement> {
    const known = this.check(subject);
    if (known.action === "deny") return known;
    const more = await Promise.all(
      this.#layersFor(subject).map(async (layer) => {
        try {
          return (await layer.lookup?.(subject, this.#context(0))) ?? [];
        } catch (error) {
          return [failed(layer, error)];
        }
      }),
    );
    return judged([...known.findings, ...more.flat().map(this.#configured)]);
  }

  explain(subject: Subject): readonly string[] {
    return this.#layersFor(subject).flatMap((layer) => layer.explain?.(subject, this.#context(0)) ?? []);
  }

  #check(subject: Subject, depth: number): readonly Finding[] {
    if (depth > DEPTH || subject.input.length > LENGTH)
      return [core.deny("too-large", "This is nested too deep or too long to be judged.")];
    return this.#layersFor(subject).flatMap((layer) => {
      try {
        return layer.check(subject, this.#context(depth)).map(this.#configured);
      } catch (error) {
        return [failed(layer, error)];
      }
    });
  }

  #layersFor({ kind }: Subject): readonly Layer[] {
    const known = this.#byKind.get(kind) ?? this.#layers.filter((layer) => layer.kinds.includes(kind));
    this.#byKind.set(kind, known);
    return known;
  }

  /** One for every depth: they differ only in how deep a subject inside would be. */
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

function judged(all: readonly Finding[]): Judgement {
  return {
    action: all.reduce<Action>((action, finding) => strictest(action, finding.action), "allow"),
    findings: all,
  };
}

/** A layer that fails has not allowed anything. */
function failed(layer: Layer, error: unknown): Finding {
  return findings(layer.name).deny("failed", `This layer could not judge: ${(error as Error).message}`);
}
