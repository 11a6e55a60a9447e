import { backendOf } from "../../../../src/agents/tools/backends.js";

/** A program that uses HERMES: runs one order, prints what it prints, and then what came of it. */
const { backend: section, order } = JSON.parse(process.argv[2]!);
const backend = await backendOf({ backend: section });
const running = await backend.start(order, { output: (_, bytes) => void process.stdout.write(bytes) });
process.stdout.write(JSON.stringify(await running.result));
await backend.close();
process.exit(0);
