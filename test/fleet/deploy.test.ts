import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import * as z from "zod";
import { hermes } from "../support/cli.js";
import { root } from "../support/root.js";

const read = (name: string) => readFileSync(join(root, "deploy", name), "utf8");

/** What we use of Kubernetes' types, and nothing else: a word that is written wrong is one that is not known. */
const name = z.string().regex(/^[a-z0-9-]+$/);
const labels = z.record(z.string(), z.string());
const quantity = z.string().regex(/^\d+(m|Mi|Gi)$/);
const container = z.strictObject({
  name,
  image: z.string().regex(/^hermes:\d+\.\d+\.\d+$/),
  command: z.array(z.string()),
  env: z.array(
    z.union([
      z.strictObject({ name: z.string(), value: z.string() }),
      z.strictObject({
        name: z.string(),
        valueFrom: z.union([
          z.strictObject({ fieldRef: z.strictObject({ fieldPath: z.literal("spec.nodeName") }) }),
          z.strictObject({ secretKeyRef: z.strictObject({ name, key: z.string() }) }),
        ]),
      }),
    ]),
  ),
  resources: z.strictObject({
    requests: z.strictObject({ cpu: quantity, memory: quantity }),
    limits: z.strictObject({ memory: quantity }),
  }),
  securityContext: z.strictObject({
    readOnlyRootFilesystem: z.literal(true),
    runAsNonRoot: z.boolean().optional(),
    runAsUser: z.int().optional(),
    allowPrivilegeEscalation: z.boolean().optional(),
    capabilities: z.strictObject({ drop: z.array(z.string()) }).optional(),
  }),
  volumeMounts: z.array(
    z.strictObject({ name, mountPath: z.string().startsWith("/"), readOnly: z.boolean().optional() }),
  ),
});
const volume = z.union([
  z.strictObject({
    name,
    hostPath: z.strictObject({ path: z.string(), type: z.literal("DirectoryOrCreate") }),
  }),
  z.strictObject({ name, secret: z.strictObject({ secretName: name, defaultMode: z.int() }) }),
  z.strictObject({ name, emptyDir: z.strictObject({}) }),
]);
const template = z.strictObject({
  metadata: z.strictObject({ labels }),
  spec: z.strictObject({
    hostPID: z.boolean().optional(),
    automountServiceAccountToken: z.literal(false),
    terminationGracePeriodSeconds: z.int().optional(),
    containers: z.array(container).length(1),
    volumes: z.array(volume),
  }),
});
const metadata = z.strictObject({ name, namespace: z.literal("hermes"), labels });
const selector = z.strictObject({ matchLabels: labels });
const document = z.discriminatedUnion("kind", [
  z.strictObject({
    apiVersion: z.literal("v1"),
    kind: z.literal("Namespace"),
    metadata: z.strictObject({ name }),
  }),
  z.strictObject({
    apiVersion: z.literal("apps/v1"),
    kind: z.literal("DaemonSet"),
    metadata,
    spec: z.strictObject({
      selector,
      updateStrategy: z.strictObject({
        type: z.literal("RollingUpdate"),
        rollingUpdate: z.strictObject({ maxUnavailable: z.string().regex(/^\d+%$/) }),
      }),
      template,
    }),
  }),
  z.strictObject({
    apiVersion: z.literal("apps/v1"),
    kind: z.literal("Deployment"),
    metadata,
    spec: z.strictObject({ replicas: z.int(), selector, template }),
  }),
]);

/** Every option that a command line of ours uses is one that the command has. */
function checkCommand(words: readonly string[]): void {
  const options = words.findIndex((word) => word.startsWith("-"));
  const command = words.slice(0, options < 0 ? words.length : options);
  const help = hermes([...command, command[0] === "run" ? "--help-all" : "--help"]).stdout;
  for (const option of words.slice(command.length).filter((word) => /^--./.test(word)))
    expect(help).toContain(option);
}

describe("what is deployed", () => {
  it("are units that systemd takes, with options that we have", () => {
    const units = ["hermes-agent.service", "hermes-serve.service", "hermes-run@.service"];
    const files = units.map((unit) => join(root, "deploy", unit));
    execFileSync("systemd-analyze", ["verify", "--man=no", ...files], { stdio: "pipe" });
    for (const unit of units)
      checkCommand(/^ExecStart=\/usr\/bin\/env hermes (.*)$/m.exec(read(unit))![1]!.split(" "));
  });

  it("are Kubernetes documents of the right shape, whose names fit together", () => {
    const documents = parseAllDocuments(read("kubernetes.yaml")).map((one) => {
      expect(one.errors).toEqual([]);
      return document.parse(one.toJS());
    });
    expect(documents.map(({ kind }) => kind)).toEqual(["Namespace", "DaemonSet", "Deployment"]);
    for (const one of documents) {
      if (one.kind === "Namespace") continue;
      const { selector: chosen, template: made } = one.spec;
      expect(made.metadata.labels).toMatchObject(chosen.matchLabels);
      const [{ command, volumeMounts }] = made.spec.containers as [z.infer<typeof container>];
      expect(volumeMounts.map((mount) => mount.name)).toEqual(made.spec.volumes.map((one) => one.name));
      expect(command[0]).toBe("hermes");
      checkCommand(command.slice(1));
    }
  });

  it("is an image made of what is there, on a base that is named, with a command that we have", () => {
    const lines = read("Dockerfile")
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"));
    const words = "FROM RUN WORKDIR COPY ENV VOLUME ENTRYPOINT CMD".split(" ");
    for (const line of lines) expect(words).toContain(line.split(" ")[0]);
    for (const line of lines.filter((one) => one.startsWith("FROM")))
      expect(line).toMatch(/^FROM node:\d+-\w+-slim( AS \w+)?$/);
    const copied = lines
      .filter((line) => /^COPY (?!--from)/.test(line))
      .flatMap((line) => line.split(" ").slice(1, -1));
    for (const file of copied) expect([file, existsSync(join(root, file))]).toEqual([file, true]);
    checkCommand(JSON.parse(/^CMD (.*)$/m.exec(read("Dockerfile"))![1]!));
  });
});
