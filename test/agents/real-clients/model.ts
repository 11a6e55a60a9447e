import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { anthropic } from "./protocols/anthropic.js";
import { generateContent } from "./protocols/gemini.js";
import { HELPER, type Protocol, type Script, type Step, type Turn } from "./protocols/protocol.js";
import { responses } from "./protocols/responses.js";

const PROTOCOLS: readonly Protocol[] = [anthropic, responses, generateContent];

/**
 * A model on loopback that says what a script says: one tool call per turn, then a last word. Where a conversation stands
 * it reads from the conversation itself, so that a client may repeat a request, or ask about other things in between.
 */
export class ScriptedModel {
  readonly #server: Server;
  readonly turns: Turn[] = [];
  /** What clients asked for that the script has no words for: shown when a client does not get on. */
  readonly strange: string[] = [];

  private constructor(readonly script: Script) {
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: Error) => {
        this.strange.push(`${request.url}: ${error.message}`);
        response.writeHead(500).end();
      });
    });
  }

  static async open(script: Script): Promise<ScriptedModel> {
    const model = new ScriptedModel(script);
    await new Promise<void>((resolve) => model.#server.listen(0, "127.0.0.1", resolve));
    return model;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** What the model was given for each of its calls, in order, as far as it came. */
  results(helper = false): readonly string[] {
    return this.turns
      .filter((turn) => isHelper(turn) === helper)
      .reduce<readonly string[]>(
        (longest, { results }) => (results.length > longest.length ? results : longest),
        [],
      );
  }

  /** Everything that reached the model, as it stood on the wire. */
  get read(): string {
    return this.turns.map(({ body }) => body).join("\n");
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = request.url ?? "";
    const body = await bodyOf(request);
    const protocol = PROTOCOLS.find((one) => request.method === "POST" && one.path.test(url));
    if (!protocol) {
      this.strange.push(`${request.method} ${url}`);
      response.writeHead(404, { "content-type": "application/json" }).end("{}");
      return;
    }
    const turn = { ...protocol.read(JSON.parse(body)), body };
    // Side questions (a title, a route) offer no tools: they get a word.
    const side = turn.tools.length === 0;
    if (!side) this.turns.push(turn);
    const at = turn.results.length;
    const steps = (isHelper(turn) ? this.script.helper : this.script.steps) ?? [];
    const step: Step = side ? { say: "ok" } : (steps[at] ?? { say: "The script is over." });
    protocol.write(step, at, { url, body: JSON.parse(body) }, response);
  }
}

/** Its task came from us, not from the client's tool call: in the helper's conversation it is what the user says. */
function isHelper({ task }: Turn): boolean {
  return task.includes(HELPER);
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
}
