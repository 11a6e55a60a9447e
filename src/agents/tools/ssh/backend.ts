import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { BackendSection } from "../../../intent/guard/config/backend.js";
import { HermesError } from "../../../nouns/errors.js";
import type { RunOrder } from "../backend.js";
import { RemoteBackend } from "../remote/backend.js";
import { MAX_BODY } from "../remote/frame.js";
import type { RemoteLink } from "../remote/link.js";
import { orderForWorkspace } from "./remote-order.js";

export type SshSection = BackendSection["ssh"];

/** The exit status of ssh(1) for its own failures, and a shell's status for "command not found". */
const OF_SSH = 255;
const NOT_FOUND = 127;

/** Runs each command on another machine that has HERMES. */
export class SshBackend extends RemoteBackend {
  readonly name = "ssh";
  readonly #section: SshSection & { readonly host: string };

  constructor(section: SshSection) {
    super();
    const { host } = section;
    if (host === undefined)
      throw new HermesError("BACKEND", {
        where: "another machine",
        message: "hermes.yaml must name backend.ssh.host",
      });
    this.#section = { ...section, host };
  }

  protected connect(order: RunOrder): RemoteLink {
    const { host, workspace, hermes } = this.#section;
    if (order.deed.connect && order.deed.connect.length > 0)
      throw new HermesError("BACKEND", {
        where: host,
        message: "it needs a socket of this machine, which the other machine cannot reach",
      });
    const credentials = (order.credentialFiles ?? []).map(({ relative, path }) => ({
      relative,
      contents: contentsOf(path),
    }));
    const child = spawn("ssh", sshArguments(this.#section), {
      stdio: ["pipe", "pipe", "pipe"],
      // No local environment is sent, and no ssh agent is forwarded.
      env: { PATH: process.env.PATH, HOME: homedir() },
    });
    return {
      process: child,
      where: host,
      order: workspace === undefined ? order : orderForWorkspace(order, workspace),
      home: "theirs",
      credentials,
      explain: (code, stderr) => {
        if (code === NOT_FOUND)
          return `${hermes} is not installed there (backend.ssh.hermes)${stderr && `: ${stderr}`}`;
        if (code === OF_SSH) return stderr || "the connection was lost";
        return `it ended with status ${code ?? "?"}${stderr && `: ${stderr}`}`;
      },
      sever: async () => void child.kill("SIGKILL"),
      release: () => {},
    };
  }
}

export function sshArguments(section: SshSection & { readonly host: string }): string[] {
  const { host, user, port, identity, known_hosts: knownHosts, hermes } = section;
  const options = {
    BatchMode: "yes",
    StrictHostKeyChecking: "yes",
    UserKnownHostsFile: written(knownHosts ?? join(homedir(), ".ssh", "known_hosts")),
    GlobalKnownHostsFile: knownHosts === undefined ? "/etc/ssh/ssh_known_hosts" : "/dev/null",
    UpdateHostKeys: "no",
    PasswordAuthentication: "no",
    KbdInteractiveAuthentication: "no",
    IdentityAgent: "none",
    ...(identity !== undefined && { IdentitiesOnly: "yes", IdentityFile: written(identity) }),
    ClearAllForwardings: "yes",
    ForwardAgent: "no",
    ForwardX11: "no",
    PermitLocalCommand: "no",
    ControlPath: "none",
    ConnectTimeout: "15",
    ServerAliveInterval: "5",
    ServerAliveCountMax: "3",
    LogLevel: "ERROR",
  };
  return [
    "-F",
    "none",
    "-T",
    ...Object.entries(options).map(([name, value]) => `-o${name}=${value}`),
    ...(user === undefined ? [] : ["-l", user]),
    ...(port === undefined ? [] : ["-p", String(port)]),
    "--",
    host,
    `exec ${hermes} remote`,
  ];
}

/** A path for ssh_config(5): % starts a token, a blank ends a word. */
function written(path: string): string {
  const plain = path.replaceAll("%", "%%");
  return /\s/.test(plain) ? `"${plain}"` : plain;
}

function contentsOf(path: string): Buffer {
  let contents: Buffer;
  try {
    contents = readFileSync(path);
  } catch (cause) {
    throw new HermesError(
      "CREDENTIAL_FILE",
      { path, why: (cause as NodeJS.ErrnoException).code ?? "?" },
      { cause },
    );
  }
  if (contents.length > MAX_BODY)
    throw new HermesError("CREDENTIAL_FILE", { path, why: `it has more than ${MAX_BODY} bytes` });
  return contents;
}
