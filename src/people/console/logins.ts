import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HermesError } from "../../nouns/errors.js";

/** Looks; also answers what agents ask; also changes skills, runs and policies, and lets others in. */
export const ROLES = ["viewer", "approver", "admin"] as const;
export type Role = (typeof ROLES)[number];

export interface User {
  readonly name: string;
  readonly role: Role;
}

interface Login {
  readonly user: User;
  /** Half of a login's proof: the browser sends it by itself, and no script can read it. */
  readonly cookie: string;
  /** The other half: the page sends it. Cookies are sent to every port of a host; this one is not. */
  readonly key: string;
}

const LINK_MS = 15 * 60_000;
export const LOGIN_MS = 12 * 3_600_000;

/**
 * Who may come in: links that work once, and those who came in by one. Each is a file named by the hash of its secret,
 * so that the process that removes a link's file uses the link, logins outlive the server, and nothing here opens a door.
 */
export class ConsoleLogins {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#sweep();
  }

  /** The secret of a new link. */
  link(user: User): string {
    checkName(user.name);
    const secret = randomSecret();
    this.#keep("link", secret, user, LINK_MS);
    return secret;
  }

  login(link: string): Login | undefined {
    const user = this.#read("link", link);
    if (!user || !this.#remove("link", link)) return undefined;
    this.#sweep();
    const [cookie, key] = [randomSecret(), randomSecret()];
    this.#keep("login", cookie + key, user, LOGIN_MS);
    return { user, cookie, key };
  }

  whoIs({ cookie, key }: Omit<Login, "user">): User | undefined {
    return this.#read("login", cookie + key);
  }

  logout({ cookie, key }: Omit<Login, "user">): void {
    this.#remove("login", cookie + key);
  }

  #keep(kind: Kind, secret: string, { name, role }: User, lasts: number): void {
    const text = JSON.stringify({ name, role, expires: Date.now() + lasts });
    writeFileSync(this.#file(kind, secret), `${text}\n`, { mode: 0o600, flag: "wx" });
  }

  #read(kind: Kind, secret: string): User | undefined {
    return readUser(this.#file(kind, secret));
  }

  /** True for exactly one caller. */
  #remove(kind: Kind, secret: string): boolean {
    try {
      unlinkSync(this.#file(kind, secret));
      return true;
    } catch {
      return false;
    }
  }

  #file(kind: Kind, secret: string): string {
    return join(this.#folder, `${kind}-${createHash("sha256").update(secret).digest("hex")}`);
  }

  #sweep(): void {
    for (const name of readdirSync(this.#folder).filter((one) => /^(link|login)-/.test(one)))
      if (!readUser(join(this.#folder, name))) rmSync(join(this.#folder, name), { force: true });
  }
}

type Kind = "link" | "login";

function readUser(file: string): User | undefined {
  try {
    const { name, role, expires } = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
    const known = ROLES.find((one) => one === role);
    if (typeof name !== "string" || !known || typeof expires !== "number" || expires <= Date.now())
      return undefined;
    return { name, role: known };
  } catch {
    return undefined;
  }
}

export function mayAct(user: User, role: Role): boolean {
  return ROLES.indexOf(user.role) >= ROLES.indexOf(role);
}

function checkName(name: string): void {
  if (!/^[\w.@-]{1,64}$/.test(name))
    throw new HermesError("USAGE", {
      message: `a name in the console has letters, digits, dots, @ and hyphens only, not "${name}"`,
    });
}

function randomSecret(): string {
  return randomBytes(32).toString("base64url");
}
