import type { Role, User } from "./access.js";

/** One thing that the page can ask for. Whoever has not at least this role is refused before `act` is called. */
export interface Route {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly role: Role;
  act(asked: Asked): Promise<object> | object;
}

export interface Asked {
  readonly user: User;
  readonly query: URLSearchParams;
  /** Of a POST. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** An answer that is not 200, in words for the page. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** How somebody is called in records. */
export function signed({ name }: User): string {
  return `console:${name}`;
}

export function text(value: unknown, name: string, atMost: number): string {
  if (typeof value !== "string" || value === "") throw new Refusal(400, `${name} is missing`);
  if (value.length > atMost) throw new Refusal(413, `${name} is too long`);
  return value;
}
