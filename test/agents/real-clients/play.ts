import { spawn } from "node:child_process";
import type { Place } from "../hooks/place.js";
import type { Fetched } from "./fetch.js";
import { ScriptedModel } from "./model.js";
import type { Script } from "./protocols/protocol.js";

export interface PlayOptions {
  readonly words?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Words before the client's own: `hermes run … --`. */
  readonly under?: readonly string[];
  /** False: the client's own questions and sandbox stay as its user has them. */
  readonly free?: boolean;
  /** Done while it runs. */
  readonly meanwhile?: (ended: AbortSignal) => Promise<void>;
}

export interface Played {
  /** What the model was given for each step. */
  readonly results: readonly string[];
  /** The same in the conversation with a helper. */
  readonly helper: readonly string[];
  /** All that it was given. */
  readonly read: string;
  readonly tools: readonly string[];
  readonly status: number | null;
  readonly output: string;
  readonly milliseconds: number;
}

const PATIENCE_MS = 90_000;

/** One run of a real client against a model that calls these tools, one after the other. */
export async function play(
  { client, program }: Fetched,
  place: Place,
  script: Script,
  { words, env = {}, under = [], free = true, meanwhile }: PlayOptions = {},
): Promise<Played> {
  const model = await ScriptedModel.open(script);
  try {
    const start = { place, url: model.url, free, ...(words && { words }) };
    const command = client.command(start);
    const [first, ...rest] = [...under, ...program, ...command.words];
    const began = performance.now();
    const child = spawn(first!, rest, {
      cwd: place.project,
      env: { ...place.env, ...command.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    const timer = setTimeout(() => process.kill(-child.pid!, "SIGKILL"), PATIENCE_MS);
    const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
    const over = new AbortController();
    void ended.then(() => over.abort());
    await Promise.all([meanwhile?.(over.signal), ended]);
    clearTimeout(timer);
    return {
      results: model.results(),
      helper: model.results(true),
      read: model.read,
      tools: [...new Set(model.turns.flatMap(({ tools }) => tools))],
      status: await ended,
      output: `${output}${model.strange.join("\n")}`,
      milliseconds: performance.now() - began,
    };
  } finally {
    await model.close();
  }
}
