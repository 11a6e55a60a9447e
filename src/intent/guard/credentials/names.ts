import { PROVIDERS } from "./providers.js";

/** The rule, and why a name says that its value is a credential. */
interface NameRule {
  readonly rule: "env-never" | "env-provider" | "env-name";
  readonly reason: string;
}

/** Never passed to a child, even if declared: the runtime's own keys and databases. */
const NEVER = [/^HERMES_API_KEY$/i, /^OPENROUTER_/i, /^DATABASE_URL/i];

/** A last word that means the credential itself. */
const SECRET_WORDS =
  words(`PASSWORD PASSWORDS PASSWD PASSPHRASE PASSCODE PASS SECRET SECRETS TOKEN CREDENTIAL CREDENTIALS
  CREDS CRED APIKEY APIKEYS COOKIE COOKIES JWT PAT DSN BEARER MNEMONIC AUTH PSK KEYTAB`);
/** The same, where capitals run together: PGPASSWORD, NPMTOKEN. */
const SECRET_ENDINGS =
  /(?:PASSWORD|PASSWD|PASSPHRASE|APIKEY|APITOKEN|AUTHTOKEN|ACCESSTOKEN|SECRETKEY|PRIVATEKEY|ACCESSKEY|ENCRYPTIONKEY|SIGNINGKEY|AUTHKEY|CLIENTSECRET|TOKEN)$/;
/** A key with one of these words is a credential; a plain `*_KEY` can also be a cache key or a sort key. */
const SECRET_KEYS =
  words(`API SECRET PRIVATE ACCESS ENCRYPTION SIGNING MASTER AUTH SSH DEPLOY LICENSE SERVICE ROLE ACCOUNT
  SHARED SESSION JWT HMAC WEBHOOK ADMIN STORAGE CLIENT ROOT RSA GPG PGP AES APP APPLICATION CRYPTO WALLET VAULT SUBSCRIPTION
  INGEST WRITE READ PROJECT BOT AGE COOKIE TLS SSL SIGN DECRYPTION UNSEAL RECOVERY SOPS`);
const HARMLESS_KEYS =
  words(`PUBLIC PUBLISHABLE PRIMARY FOREIGN SORT PARTITION HASH CACHE OBJECT GROUP HOT INDEX UNIQUE MAP ROW
  LOOKUP CONFIG REGISTRY SITE DISPLAY COMPOSE ROUTING SHARD BUCKET S3 MENU SHORTCUT MODIFIER LEADER META ARROW ENTER TAB I18N
  TRANSLATION QUERY SEARCH DEDUP IDEMPOTENCY RATE LIMIT FEATURE`);
/** A last word that is about a credential but is not one. */
const ABOUT =
  words(`ID IDS FILE FILES PATH PATHS DIR DIRS FOLDER NAME NAMES HOST PORT LENGTH LEN SIZE LIMIT LIMITS COUNT TTL
  EXPIRY EXPIRES EXPIRATION EXP AGE TIMEOUT TYPE TYPES FORMAT POLICY PREFIX SUFFIX HEADER HEADERS FIELD FIELDS ENABLED REQUIRED
  DISABLED ALGORITHM ALG VERSION INDEX BUDGET USAGE MIN MAX STORE MANAGER PROVIDER ENDPOINT AUDIENCE ISSUER SCOPE SCOPES HINT
  LABEL REGEX PATTERN ROTATION BYTES DAYS HOURS MINUTES SECONDS MS SOCK SOCKET MODE METHOD URL URI COST PRICE RATE COLOR`);
/** `MAX_TOKEN`, `PAD_TOKEN`, `NO_AUTH`: words before the last one that change its meaning. */
const DEFUSED: Readonly<Record<string, ReadonlySet<string>>> = {
  TOKEN: words("MAX MIN NUM PAD EOS BOS UNK SEP CLS MASK STOP SPECIAL NEXT START END DECODER"),
  AUTH: words("NO USE ENABLE DISABLE REQUIRE SKIP WITH REQUIRES NEEDS XDG"),
  PASS: words("NO MULTI SINGLE FIRST SECOND TWO ONE RENDER BY LOW HIGH BAND ASK SUPPRESS"),
  COOKIE: words("NO ACCEPT USE"),
  PAT: words("GLOB FILE"),
};
/** `API_KEY_PROD`, `TOKEN_2`: an environment or a number. */
const WHERE =
  /^(?:\d+|PROD|PRODUCTION|DEV|DEVELOPMENT|TEST|STAGING|LOCAL|LIVE|BASE|VALUE|NEW|OLD|DEFAULT|MAIN|BACKUP)$/;
/** Of plural words, only these are credentials: `MAX_TOKENS` is a number. */
const TOKENS_OF = words("API ACCESS AUTH REFRESH BOT SECRET SERVICE");
/** Frameworks publish variables with these prefixes to every browser. */
const PUBLISHED = /^(?:NEXT_PUBLIC|EXPO_PUBLIC|NUXT_PUBLIC|PUBLIC|GATSBY_PUBLIC)_/i;

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/));
}

/** `dbPassword`, `db-password` and `DB_PASSWORD` are the same words. */
export function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1_$2")
    .toUpperCase()
    .split(/[^A-Z0-9]+/)
    .filter(Boolean);
}

/** Whether a name, of a variable or of a field in a text, means a password, token or key. */
export function namesSecret(name: string): boolean {
  const parts = wordsOf(name);
  while (parts.length > 1 && WHERE.test(parts.at(-1)!)) parts.pop();
  const last = parts.at(-1);
  if (last === undefined || ABOUT.has(last)) return false;
  const before = parts.at(-2) ?? "";
  if (DEFUSED[last]?.has(before)) return false;
  if (last === "TOKENS") return TOKENS_OF.has(before);
  if (last === "KEY" || last === "KEYS") return SECRET_KEYS.has(before);
  if (last === "PWD") return before !== "" && before !== "OLD";
  if (last === "STRING" || last === "STR") return before === "CONNECTION" || before === "CONN";
  if (SECRET_WORDS.has(last)) return last !== "AUTH" && last !== "PASS" ? true : parts.length > 1;
  return SECRET_ENDINGS.test(last);
}

/** `GEMINI_KEY`, `MY_KEY`: in an environment, hardly anything else ends like this. */
function namesKey(name: string): boolean {
  const parts = wordsOf(name);
  return parts.length > 1 && parts.at(-1) === "KEY" && !HARMLESS_KEYS.has(parts.at(-2)!);
}

/** `ADAFRUIT_KEY`, `key`: a credential if the value looks like one. */
export function mayNameKey(name: string): boolean {
  return /^key$/i.test(name) || namesKey(name);
}

const EXACT = new Map(PROVIDERS.flatMap(({ provider, names }) => names.map((name) => [name, provider])));
const PREFIXES = [...EXACT].filter(([name]) => name.endsWith("*")).map(([name]) => name.slice(0, -1));

function providerOf(upper: string): string | undefined {
  if (ABOUT_A_PROVIDER.test(upper)) return undefined;
  const prefix = PREFIXES.find((start) => upper.startsWith(start));
  return EXACT.get(upper) ?? (prefix === undefined ? undefined : EXACT.get(`${prefix}*`));
}

/** Variables of a provider that select something and are no credentials. */
const ABOUT_A_PROVIDER = /_(?:REGION|PROFILE|MODEL|TIMEOUT|LOG_LEVEL|DEBUG|PORT|HOST|VERSION|OUTPUT|PAGER)$/;

/** What an environment variable's name alone tells about it. */
export function judgeName(name: string): NameRule | undefined {
  if (NEVER.some((pattern) => pattern.test(name)))
    return { rule: "env-never", reason: `${name} belongs to the runtime and never reaches a child.` };
  const provider = providerOf(name.toUpperCase());
  if (provider !== undefined)
    return { rule: "env-provider", reason: `${name} holds a credential of ${provider}.` };
  if (PUBLISHED.test(name)) return undefined;
  if (namesSecret(name) || namesKey(name))
    return { rule: "env-name", reason: `${name} is named like a credential.` };
  return undefined;
}
