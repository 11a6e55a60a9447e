import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { HERMES } from "../../support/cli.js";
import { Place } from "../hooks/place.js";
import type { Client } from "./client.js";
import { type Fetched, seats } from "./fetch.js";
import { type Played, type PlayOptions, play } from "./play.js";
import type { Script } from "./protocols/protocol.js";

export const KEY = "THE-PRIVATE-KEY-OF-THIS-TEST";

/** A user with secrets, a project, a real client and HERMES. */
export class Seat {
  readonly place: Place;
  readonly client: Client;

  constructor(readonly fetched: Fetched) {
    this.client = fetched.client;
    // A temporary folder is writable under every policy, and private behind a strict fence.
    this.place = new Place(seats());
    this.place.env.PATH = `${fetched.program.length > 1 ? "" : `${join(fetched.program[0]!, "..")}:`}${process.env.PATH}`;
    this.client.prepare(this.place);
    this.place.write("home/.ssh/id_ed25519", `-----BEGIN OPENSSH PRIVATE KEY-----\n${KEY}\n`);
    this.place.write("project/.env", `API_TOKEN=${KEY}\n`);
    this.place.write("project/plain.txt", "an ordinary line with API_TOKEN in it\n");
  }

  /** `hermes install`, as a user types it. */
  install(...words: readonly string[]): string {
    const { status, stdout, stderr } = this.hermes("install", this.client.agent, ...words);
    if (status !== 0) throw new Error(`hermes install: ${stderr}`);
    return stdout;
  }

  hermes(...words: readonly string[]) {
    return this.place.run(HERMES, words);
  }

  play(script: Script, options?: PlayOptions): Promise<Played> {
    return play(this.fetched, this.place, script, options);
  }

  /** Answers every question in the queue, until the client has ended. */
  async answering(answer: "approve" | "deny", ended: AbortSignal): Promise<void> {
    const answered = new Set<string>();
    while (!ended.aborted) {
      const { stdout } = await this.hermesAsync("approvals", "list", "--json");
      for (const id of stdout.match(/(?<="id":")[0-9a-f]+/g) ?? []) {
        if (!answered.has(id)) await this.hermesAsync("approvals", answer, id);
        answered.add(id);
      }
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  hermesAsync(...words: readonly string[]): Promise<{ stdout: string }> {
    const { env, project: cwd } = this.place;
    return new Promise((resolve) => {
      execFile(HERMES, words, { env, cwd }, (_error, stdout) => resolve({ stdout }));
    });
  }

  /** What HERMES has written down. */
  // biome-ignore lint/suspicious/noExplicitAny: records of many kinds
  records(): any[] {
    return this.hermes("audit", "show", "--json")
      .stdout.split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  }

  path(file: string): string {
    return join(this.place.folder, file);
  }

  text(file: string): string | undefined {
    return existsSync(this.path(file)) ? readFileSync(this.path(file), "utf8") : undefined;
  }

  close(): void {
    this.place.remove();
  }
}
