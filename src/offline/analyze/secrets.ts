import { homedir } from "node:os";
import { join } from "node:path";
import { HOME } from "../../nouns/home.js";
import { loadPolicy } from "../../policy/load.js";
import type { Policy } from "../../policy/policy.js";
import { RecordedCall } from "../simulate/recorded-call.js";

interface UsedSecret {
  /** The rule of policies/secrets.yaml, or `name` when only its name says so. */
  readonly kind: string;
  readonly reason: string;
}

/** Names that people give to what they want to keep, wherever it is. Code about such things is not meant. */
const TELLING =
  /(^|[._-])(secrets?|passwords?|passwd|tokens?|credentials?|api[_-]?keys?|private[_-]?keys?)([._-]|$)|\.(pem|key|p8|ppk)$/i;
const CODE =
  /\.(py|pyc|js|mjs|cjs|ts|c|h|cc|cpp|hpp|go|rs|rb|pl|pm|java|so|a|o|html|md|css|map|lua)(\.[\d.]+)?$/i;
/** Certificates are made to be shown. */
const CERTIFICATE = /cert|chain|bundle|\bca\b|public|\bpub\b/i;
/** Installed with the system, for everybody to read. */
const PUBLIC =
  /^\/(usr|lib|lib64|bin|sbin|proc|sys|dev|etc\/ssl\/certs|etc\/pki\/tls\/certs|etc\/passwd)(\/|$)/;
const HOMES = /^(?:\/home\/[^/]+|\/root|\/Users\/[^/]+)(?=\/)/;

/** Which files are secrets: those that policies/secrets.yaml protects, and those with a telling name. */
export class UsedSecrets {
  readonly #policy: Policy;
  readonly #home: string;
  readonly #known = new Map<string, UsedSecret | undefined>();

  private constructor(policy: Policy) {
    this.#policy = policy;
    this.#home = homedir();
  }

  static async load(): Promise<UsedSecrets> {
    return new UsedSecrets(await loadPolicy(join(HOME, "policies/secrets.yaml")));
  }

  of(path: string): UsedSecret | undefined {
    if (this.#known.has(path)) return this.#known.get(path);
    const secret = this.#judge(path);
    if (this.#known.size < 200_000) this.#known.set(path, secret);
    return secret;
  }

  #judge(path: string): UsedSecret | undefined {
    // A trace may come from another machine, with other homes.
    for (const name of new Set([path, path.replace(HOMES, this.#home)])) {
      const event = new RecordedCall({ name: "open", path: name, args: { flags: "O_RDONLY" } });
      const verdict = this.#policy.decide(event);
      if (verdict?.action === "deny")
        return { kind: verdict.rule ?? "secrets", reason: verdict.reason ?? "" };
    }
    const name = path.slice(path.lastIndexOf("/") + 1);
    if (!TELLING.test(name) || CODE.test(name) || CERTIFICATE.test(name) || PUBLIC.test(path))
      return undefined;
    return { kind: "name", reason: "Its name says that it is a secret." };
  }
}
