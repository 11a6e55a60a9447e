import { writeSync } from "node:fs";
import { TestHost } from "./support.js";

/** A host of its own process, which writes records, says which were acknowledged, and is killed at any moment. */
const [url, folder] = process.argv.slice(2) as [string, string];
const tell = (value: unknown) => writeSync(1, `${JSON.stringify(value)}\n`);
const host = await new TestHost(url, folder).open();
host.start();
tell({ chain: host.audit.chain });
for (let i = 0; ; i++) {
  try {
    const { seq, hash } = await host.audit.record("config", { what: `${process.pid} ${i}` });
    tell({ seq, hash });
  } catch (error) {
    // The disk is full, perhaps: then it is not acknowledged.
    tell({ refused: (error as Error).message });
  }
  await new Promise((resolve) => setTimeout(resolve, 5));
}
