/** What the server answered when it did not do what was asked. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const KEY = "hermes-key";

/** Half of the login; the other half is a cookie that no script can read. */
export function keepKey(key: string | undefined): void {
  if (key === undefined) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, key);
}

export function headers(): Record<string, string> {
  return { [KEY]: localStorage.getItem(KEY) ?? "" };
}

export async function get<T>(path: string, query: Readonly<Record<string, string>> = {}): Promise<T> {
  const words = new URLSearchParams(query).toString();
  return answered(await fetch(words === "" ? path : `${path}?${words}`, { headers: headers() }));
}

export async function post<T>(path: string, body: object): Promise<T> {
  const all = { ...headers(), "content-type": "application/json" };
  return answered(await fetch(path, { method: "POST", headers: all, body: JSON.stringify(body) }));
}

async function answered<T>(response: Response): Promise<T> {
  const body = (await response.json().catch(() => ({}))) as T & { error?: string };
  if (!response.ok) throw new Refused(response.status, body.error ?? `it answers ${response.status}`);
  return body;
}
