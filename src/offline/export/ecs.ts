import { syscallByName } from "../../abi/index.js";
import type { CallRecord, TraceRecord } from "../../record/trace/records.js";
import type { TracedProcess } from "../analyze/processes.js";
import { ActorExporter, peerOf, portableJson, sentence } from "./exporter.js";

/** The Elastic Common Schema, one document per line. */
export class EcsExporter extends ActorExporter {
  protected write(record: TraceRecord, actor: TracedProcess | undefined): string {
    const time = record.kind === "header" ? Date.parse(record.started) : record.time * 1000;
    const document = {
      "@timestamp": new Date(time).toISOString(),
      ecs: { version: "8.11.0" },
      message: sentence(record, actor),
      event: { kind: "event", module: "hermes", dataset: "hermes.trace", ...eventOf(record) },
      ...(actor && { process: processOf(record, actor) }),
      ...(record.kind === "syscall" && callFields(record)),
    };
    return `${portableJson(document)}\n`;
  }
}

/** Our classes of calls in the words of ECS; the first that fits. */
const CATEGORIES: readonly (readonly [cls: string, category: string, type: string])[] = [
  ["exec", "process", "start"],
  ["connect", "network", "connection"],
  ["accept", "network", "connection"],
  ["network", "network", "info"],
  ["delete", "file", "deletion"],
  ["create", "file", "access"],
  ["open", "file", "access"],
  ["rename", "file", "change"],
  ["link", "file", "creation"],
  ["metadata", "file", "change"],
  ["file", "file", "access"],
  ["read", "file", "access"],
  ["write", "file", "change"],
  ["process", "process", "info"],
];

function eventOf(record: TraceRecord): object {
  switch (record.kind) {
    case "syscall":
      return callEvent(record);
    case "function":
      return {
        category: ["process"],
        type: ["info"],
        action: record.name,
        outcome: record.failed ? "failure" : record.elapsed === undefined ? "unknown" : "success",
      };
    case "exec":
      return { category: ["process"], type: ["start"], action: "exec", outcome: "success" };
    case "fork":
      return { category: ["process"], type: ["start"], action: "fork", outcome: "success" };
    case "exit":
      return { category: ["process"], type: ["end"], action: "exit" };
    default:
      return { category: ["process"], type: ["info"], action: record.kind };
  }
}

function callEvent({ name, action, errno, result, elapsed }: CallRecord): object {
  const classes = syscallByName(name)?.classes ?? [];
  const [, category = "process", type = "info"] =
    CATEGORIES.find(([cls]) => (classes as readonly string[]).includes(cls)) ?? [];
  const refused = action === "deny" || action === "kill";
  const outcome = refused || errno !== undefined ? "failure" : result === undefined ? "unknown" : "success";
  return {
    category: [category],
    type: [type, ...(category === "network" || category === "file" ? [refused ? "denied" : "allowed"] : [])],
    action: name,
    outcome,
    ...(elapsed !== undefined && { duration: Math.round(elapsed * 1e9) }),
  };
}

function processOf(record: TraceRecord, { pid, exe, argv, parent }: TracedProcess): object {
  return {
    pid,
    ...("tid" in record && { thread: { id: record.tid } }),
    ...(exe !== "" && { executable: exe, name: exe.split("/").at(-1) }),
    ...(argv.length > 0 && { args: argv, args_count: argv.length }),
    ...(parent && { parent: { pid: parent.pid } }),
    ...(record.kind === "exit" && record.code !== undefined && { exit_code: record.code }),
  };
}

function callFields(record: CallRecord): object {
  const { path, errno, policy, rule, reason, version } = record;
  const peer = peerOf(record);
  return {
    ...(path !== undefined && { file: { path, name: path.split("/").at(-1) } }),
    ...(peer && {
      destination: {
        address: peer.text,
        ...(peer.host !== undefined && { ip: peer.host, port: peer.port }),
      },
    }),
    ...(errno !== undefined && { error: { code: errno } }),
    ...(policy !== undefined && {
      rule: {
        ruleset: policy,
        ...(rule !== undefined && { name: rule }),
        ...(reason !== undefined && { description: reason }),
        ...(version !== undefined && { version }),
      },
    }),
  };
}
