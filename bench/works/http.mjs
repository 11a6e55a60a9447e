import { writeFileSync } from "node:fs";
import { join } from "node:path";

const REQUESTS = { full: 5000, quick: 1500 };

export const http = {
  name: "http",
  about: "requests to a node http server under the system, which reads a file for each",
  needs: ["node"],
  prepare: ({ workspace }) => writeFileSync(join(workspace, "server.mjs"), SERVER),
  server: ({ port }) => ["node", "server.mjs", String(port)],
  load: ({ port }, size) => ["node", "--input-type=module", "-e", LOAD, String(port), String(REQUESTS[size])],
};

const SERVER = `
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
createServer((_, response) => response.end(readFileSync("server.mjs"))).listen(Number(process.argv[2]), "127.0.0.1");
`;

const LOAD = `
const url = "http://127.0.0.1:" + process.argv[1];
let left = Number(process.argv[2]);
const one = async () => { while (left-- > 0) await (await fetch(url)).arrayBuffer(); };
await Promise.all(Array.from({ length: 10 }, one));
`;
