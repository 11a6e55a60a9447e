import { AUTO_RUN_FILES, autoRunSource } from "../../../nouns/auto-run-files.js";
import type { Action } from "../finding.js";

/**
 * Places that an agent must not touch, or only after a question. Paths are matched absolute, in lower case, with
 * forward slashes; `~` at the start of a pattern is any user's home.
 */
export interface Protected {
  readonly rule: string;
  readonly reason: string;
  readonly patterns: readonly string[];
  /** Exceptions to the pattern. */
  readonly except?: readonly string[];
  /** Does not apply inside the workspace, which may be in such a place. */
  readonly outside?: true;
  readonly read: Action;
  readonly write: Action;
  /** The action when the request names no access. */
  readonly unknown: Action;
}

const DEVICES: readonly Protected[] = [
  {
    rule: "device",
    reason: "This is a device: reading it blocks or never ends.",
    patterns: [
      "/dev/zero",
      "/dev/random",
      "/dev/urandom",
      "/dev/stdin",
      "/dev/stdout",
      "/dev/stderr",
      "/dev/tty",
      "/dev/null",
    ],
    read: "deny",
    write: "deny",
    unknown: "deny",
  },
  {
    rule: "device",
    reason: "This is a device, or a descriptor of a running program.",
    patterns: [
      "/dev/(?!shm(?:/|$)).+",
      "/proc/[^/]+/fd(?:info)?(?:/.*)?",
      "/proc/[^/]+/task/[^/]+/fd(?:/.*)?",
      "/sys/(?:firmware/efi/efivars|kernel/debug|kernel/security)/.*",
    ],
    read: "deny",
    write: "deny",
    unknown: "deny",
  },
];

const PROCESSES: readonly Protected[] = [
  {
    rule: "process-secrets",
    reason: "This shows the environment or the memory of a running program.",
    patterns: [
      "/proc/[^/]+/(?:task/[^/]+/)?(?:environ|mem|maps|smaps|smaps_rollup|numa_maps|map_files(?:/.*)?|pagemap|auxv|stack|syscall|root(?:/.*)?|cwd(?:/.*)?|exe|clear_refs|personality)",
      "/proc/(?:kcore|kmem|kallsyms|kpagecgroup|kpagecount|kpageflags|vmcore|keys|key-users|sysrq-trigger|config\\.gz)",
    ],
    read: "deny",
    write: "deny",
    unknown: "deny",
  },
  {
    rule: "kernel-settings",
    reason: "This changes how the kernel works.",
    patterns: ["/proc/.*", "/sys/.*"],
    read: "allow",
    write: "deny",
    unknown: "allow",
  },
];

const SOCKETS: readonly Protected[] = [
  {
    rule: "container-socket",
    reason: "A program that connects to this socket controls the machine.",
    patterns: [
      "/(?:var/)?run/(?:[^/]+/)*(?:docker|podman|containerd|crio|buildkitd|lxd?|dockershim|cri-dockerd|k3s)[^/]*\\.sock(?:et)?",
      "~/\\.docker/(?:run|desktop)/[^/]*\\.sock",
      "/run/user/\\d+/(?:docker|podman/podman)\\.sock",
      "/(?:var/)?run/(?:snapd|systemd/private|dbus/system_bus_socket|libvirt/libvirt-sock).*",
    ],
    read: "deny",
    write: "deny",
    unknown: "deny",
  },
];

const SYSTEM: readonly Protected[] = [
  {
    rule: "sensitive-write",
    reason: "Writing here changes the system for every user.",
    patterns: ["/etc(?:/.*)?", "/boot(?:/.*)?", "/usr/lib/systemd(?:/.*)?", "/private/etc(?:/.*)?"],
    read: "allow",
    write: "deny",
    unknown: "ask",
  },
  {
    rule: "sensitive-write",
    reason: "Writing here changes the system for every user.",
    patterns: [
      "/(?:usr/)?(?:lib(?:32|64|x32)?|bin|sbin|libexec)(?:/.*)?",
      "/usr/(?:local|share|include)/.*",
      "/var/(?:spool/(?:cron|at)|lib|log|www|db|backups)(?:/.*)?",
      "/(?:lib/systemd|run/systemd|opt|root|srv)(?:/.*)?",
      "/(?:system|library)/.*",
      "(?:/mnt/[a-z])?/(?:windows|program files(?: \\(x86\\))?|programdata)(?:/.*)?",
      "/",
    ],
    outside: true,
    read: "allow",
    write: "deny",
    unknown: "allow",
  },
  {
    rule: "windows-system",
    reason: "This belongs to the Windows system.",
    patterns: [
      "(?:/mnt/[a-z])?/windows/(?:system32|syswow64|repair|ntds|panther|debug)(?:/.*)?",
      "(?:/mnt/[a-z])?/(?:boot\\.ini|win\\.ini|windows/win\\.ini|inetpub/.*|pagefile\\.sys|bootmgr|autoexec\\.bat)",
    ],
    read: "ask",
    write: "deny",
    unknown: "deny",
  },
];

const CREDENTIALS: readonly Protected[] = [
  {
    rule: "credential-file",
    reason: "This holds passwords or private keys of the system.",
    patterns: [
      "/etc/(?:shadow|gshadow|master\\.passwd|security/opasswd)[-~]?(?:\\.\\w+)?",
      "/etc/sudoers(?:\\.d/.*)?",
      "/etc/ssh/ssh_host_\\w+_key",
      "/etc/(?:ssl|pki|letsencrypt)/(?:.*/)?(?:private|privkey)[^/]*(?:/.*)?",
      "/etc/krb5\\.keytab",
      "/etc/(?:wireguard|ppp|openvpn)/.*(?:conf|secrets|key)",
      "/etc/networkmanager/system-connections(?:/.*)?",
      "/var/(?:lib|db)/(?:sss|shadow|samba/private|mysql|postgresql|docker/containers|kubelet/pods).*",
      "/(?:var/)?run/secrets(?:/.*)?",
      "/.*/windows/system32/config/(?:sam|system|security)(?:\\..*)?",
    ],
    read: "deny",
    write: "deny",
    unknown: "deny",
  },
  {
    rule: "credential-file",
    reason: "This holds private keys.",
    patterns: [
      ".*/\\.ssh(?:/.*)?",
      ".*/\\.gnupg(?:/.*)?",
      ".*/id_(?:rsa|dsa|ecdsa|ed25519|ed25519_sk|ecdsa_sk|xmss)(?:[._-](?!pub$)[\\w-]+)?",
      ".*\\.(?:ppk|kdbx?|keychain(?:-db)?|ovpn|gpg-key|agekey)",
      ".*/(?:server|private|privkey\\d*|tls|client|ca|root|signing|deploy|host|ssl|key)[\\w-]*\\.key",
      ".*/(?:[^/]*private[^/]*|privkey\\d*|[^/]*[-_]key|aws[^/]*|ec2[^/]*)\\.pem",
    ],
    except: [".*\\.pub", ".*/\\.ssh/(?:known_hosts(?:\\.old)?|config\\.example)"],
    read: "deny",
    write: "deny",
    unknown: "deny",
  },
  {
    rule: "own-records",
    reason: "HERMES keeps its records of agents here.",
    patterns: [
      ".*/hermes\\.db(?:[-.](?:wal|shm|journal|head|host|key|pub|runs|runs\\.1))?",
      "~/\\.local/state/hermes(?:/.*)?",
    ],
    read: "deny",
    write: "deny",
    unknown: "deny",
  },
  {
    rule: "env-file",
    reason: "This holds the secrets of a project.",
    patterns: [
      ".*/\\.env(?:\\.[\\w.-]+|rc|[-_][\\w.-]+)?",
      ".*/[\\w-]+\\.env",
      ".*/\\.(?:dev|prod)\\.vars",
      ".*/\\.flaskenv\\.local",
    ],
    except: [
      ".*(?:example|sample|template|dist|defaults?|schema|tpl|test|ci|vault)(?:\\.\\w+)?",
      ".*/\\.env\\.(?:d\\.ts|ts|js|mjs|md)",
      ".*/\\.env[-_]?(?:reader|loader|utils?|config)\\.\\w+",
    ],
    read: "deny",
    write: "ask",
    unknown: "deny",
  },
  {
    rule: "credential-file",
    reason: "A tool keeps its login here.",
    patterns: [
      "~/\\.aws/(?:credentials|sso/cache|cli/cache).*",
      ".*/\\.(?:netrc|pgpass|my\\.cnf|mylogin\\.cnf|git-credentials|vault-token|pypirc|boto|s3cfg|dockercfg|terraformrc|cargo/credentials(?:\\.toml)?|gem/credentials|rclone\\.conf|smbcredentials|mongorc\\.js|credentials(?:\\.json)?)",
      ".*/(?:_netrc|\\.?htpasswd)",
      "~/(?:\\.config|library/application support|appdata/roaming)/.*/(?:cookies|login data|web data)",
      "~/\\.npmrc",
      "~/\\.yarnrc(?:\\.yml)?",
      "~/\\.config/(?:gcloud|gh|op|rclone|doctl|hub|git/credentials|configstore|heroku|railway|vercel|netlify|fly|stripe|sops/age|glab-cli|containers/auth\\.json|pip/pip\\.conf|hermes|github-copilot)(?:/.*)?",
      "~/\\.(?:azure|kube|docker/config\\.json|oci|bluemix|fly|terraform\\.d/credentials.*|password-store|local/share/(?:keyrings|kwalletd|python_keyring)|m2/settings(?:-security)?\\.xml|gradle/gradle\\.properties|databrickscfg|snowflake|config/snowflake|huggingface/token|cache/huggingface/token|kaggle/kaggle\\.json|wakatime\\.cfg|jupyter/.*cookie_secret)(?:/.*)?",
      "~/\\.(?:claude/\\.credentials\\.json|codex/auth\\.json|gemini/(?:oauth_creds|google_accounts)\\.json|hermes(?:/.*)?|cursor/.*token.*|openai/.*|anthropic/.*)",
      "(?:.*/)?\\.kube/config",
      "~/library/(?:keychains|application support/(?:google/chrome|firefox|brave.*|microsoft edge|com\\.apple\\.tcc)|cookies)(?:/.*)?",
      "~/\\.config/(?:google-chrome|chromium|brave.*|microsoft-edge|opera|vivaldi)(?:/.*)?",
      "~/\\.mozilla(?:/.*)?",
      ".*/(?:login data|cookies\\.sqlite|logins\\.json|key[34]\\.db|local state|wallet\\.dat|keystore/utc--.*)",
      ".*/appdata/(?:local|roaming)/(?:google|mozilla|microsoft/(?:credentials|protect|edge)|bravesoftware)/.*",
      "~/\\.(?:bitcoin|ethereum|electrum|solana|monero|config/solana)(?:/.*)?",
      "~/ntuser\\.dat",
    ],
    except: [
      "~/\\.config/gh/config\\.yml",
      "~/\\.azure/config",
      "~/\\.config/git/(?:ignore|config|attributes)",
      "~/\\.kube/cache/.*",
      "~/\\.hermes/skills/.*",
    ],
    read: "deny",
    write: "deny",
    unknown: "deny",
  },
  {
    rule: "likely-credentials",
    reason: "Files of this name usually hold keys.",
    patterns: [
      ".*\\.(?:p12|pfx|jks|keystore|pkcs12|keytab|asc\\.key|mobileprovision)",
      ".*/(?:service[_-]?account[\\w-]*|credentials|client_secrets?[\\w.-]*|gcp[_-]key[\\w-]*|firebase-adminsdk[\\w-]*|.*-credentials|token|oauth[_-]?creds?)\\.json",
      ".*/(?:secrets?|credentials?|vault)\\.(?:ya?ml|json|toml|ini|txt|env|properties|tfvars|enc)(?:\\.enc)?",
      ".*/\\.?secrets?/[^/]+\\.(?:ya?ml|json|toml|ini|txt|env|properties|key)",
      ".*/[^/]*(?:(?:recovery|backup)[-_ ]?codes?|(?:seed|recovery)[-_ ]?phrase|mnemonic)[^/]*\\.(?:txt|md|json|csv)",
      ".*/(?:.*\\.)?(?:tfstate(?:\\.backup)?|tfvars(?:\\.json)?)",
      ".*/(?:kubeconfig|\\.dockerconfigjson|wp-config\\.php|database\\.yml|master\\.key|passwords?\\.(?:txt|csv|xlsx?|json|kdbx|md))",
      ".*/config/(?:master|credentials/\\w+)\\.key",
      ".*/\\.(?:bash|zsh|sh|python|psql|mysql|sqlite|node_repl|irb|rediscli|ash|fish)_?(?:_history|history)",
      "~/\\.(?:local/share/fish/fish_history|viminfo|lesshst)",
      "~/\\.aws(?:/.*)?",
    ],
    except: [
      ".*(?:example|sample|template|fixture|schema|mock)[^/]*",
      ".*/(?:tests?|fixtures|__fixtures__|testdata|docs?|templates)/.*",
      "~/\\.aws/cli/alias",
    ],
    read: "ask",
    write: "ask",
    unknown: "ask",
  },
];

/** Files that run code later (src/nouns/auto-run-files.ts), and files that instruct agents. */
const PERSISTENCE: readonly Protected[] = AUTO_RUN_FILES.map(({ rule, why, paths, except }) => ({
  rule,
  reason: `Other programs run or obey this file later: ${why}.`,
  patterns: paths.map(lowerSource),
  ...(except && { except: except.map(lowerSource) }),
  read: "allow",
  write: "ask",
  unknown: "allow",
}));

function lowerSource(pattern: string): string {
  return autoRunSource(pattern.toLowerCase());
}

/** In order: the first row that matches and does not allow decides. */
export const PROTECTED: readonly Protected[] = [
  ...DEVICES,
  ...PROCESSES,
  ...SOCKETS,
  ...CREDENTIALS,
  ...SYSTEM,
  ...PERSISTENCE,
];
