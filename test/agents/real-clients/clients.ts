import type { Client } from "./client.js";
import { claudeCode } from "./clients/claude-code.js";
import { codex } from "./clients/codex.js";
import { gemini } from "./clients/gemini.js";
import { opencode } from "./clients/opencode.js";

export const CLIENTS: readonly Client[] = [claudeCode, codex, gemini, opencode];

/** For clients that want a newer Node than ours. */
export const NODE = { package: "node", version: "24.21.0", program: "node/bin/node" };
