import { headers } from "./api.js";

export type Listener = (kind: string, data: unknown) => void;

const SILENCE_MS = 30_000;
const SLOWEST_MS = 5000;

/**
 * What the server tells, for as long as the page is open. EventSource cannot send our key, so this reads the stream itself:
 * when it breaks off it comes back, and says which event it saw last.
 */
export async function follow(
  listener: Listener,
  state: (connected: boolean) => void,
  ended: () => void,
): Promise<void> {
  let seen = "";
  for (let pause = 250; ; pause = Math.min(pause * 2, SLOWEST_MS)) {
    const stop = new AbortController();
    try {
      const response = await fetch("/api/feed", {
        headers: { ...headers(), ...(seen !== "" && { "last-event-id": seen }) },
        signal: stop.signal,
      });
      if (response.status === 401) return ended();
      if (!response.ok || !response.body) throw new Error(`it answers ${response.status}`);
      for await (const block of blocks(response.body, stop)) {
        state(true);
        pause = 250;
        const event = parse(block);
        if (!event) continue;
        listener(event.kind, event.data);
        seen = event.id;
      }
    } catch {
      // Gone, or silent for too long.
    }
    stop.abort();
    state(false);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

async function* blocks(body: ReadableStream<Uint8Array>, stop: AbortController): AsyncGenerator<string> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .getReader();
  let rest = "";
  for (;;) {
    const silence = setTimeout(() => stop.abort(), SILENCE_MS);
    const { done, value } = await reader.read().finally(() => clearTimeout(silence));
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop()!;
    yield* parts;
  }
}

function parse(block: string): { id: string; kind: string; data: unknown } | undefined {
  const field = (name: string) =>
    block
      .split("\n")
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2);
  const data = field("data");
  return data === undefined
    ? undefined
    : { id: field("id") ?? "", kind: field("event") ?? "", data: JSON.parse(data) };
}
