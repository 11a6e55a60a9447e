import type { AgentAdapter } from "./agent.js";
import { claudeCode } from "./claude-code.js";
import { codex } from "./codex.js";
import { gemini } from "./gemini.js";

export const AGENTS: readonly AgentAdapter[] = [claudeCode, codex, gemini];
