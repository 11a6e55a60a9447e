import type { Role, User } from "./logins.js";

/** One request of the page. A user without this role is refused before `act` is called. */
export interface Route {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly role: Role;
  handle(asked: ApiRequest): Promise<object> | object;
}

export interface ApiRequest {
  readonly user: User;
  readonly query: URLSearchParams;
  /** Of a POST. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** An answer that is not 200, in words for the page. */
export class HttpRefusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The name of a user in records. */
export function signed({ name }: User): string {
  return `console:${name}`;
}

export function requiredText(value: unknown, name: string, atMost: number): string {
  if (typeof value !== "string" || value === "") throw new HttpRefusal(400, `${name} is missing`);
  if (value.length > atMost) throw new HttpRefusal(413, `${name} is too long`);
  return value;
}
