import { AUTO_RUN_FILES, type AutoRunFile, autoRunSource } from "../../../nouns/auto-run-files.js";
import type { Sensitive } from "./path-places.js";

const HOME = "/(?:home/[^/]+|Users/[^/]+|root)";

/** Rows of the table of files that run code later. */
function laterCode(rule: AutoRunFile["rule"]): readonly Sensitive[] {
  return AUTO_RUN_FILES.filter((row) => row.rule === rule).map(({ paths, except = [], example }) => {
    const source = (patterns: readonly string[]) =>
      patterns.map((pattern) => autoRunSource(pattern).replace(/^~/, HOME)).join("|");
    const not = except.length > 0 ? `(?!(?:${source(except)})$)` : "";
    return [new RegExp(`^${not}(?:${source(paths)})$`), example];
  });
}

/** Files that hold credentials. Every pattern is for whole paths; the example is a path that it must match. */
export const CREDENTIALS: readonly Sensitive[] = [
  [/(?:^|\/)\.env(?:\.(?!example|sample|template|dist|schema|defaults?$|tpl|md$)[\w.-]+)?$/, "./.env"],
  [/\/\.envrc$/, "./.envrc"],
  [/\/\.ssh(?:\/(?!known_hosts|config$|authorized_keys|.*\.pub$|$).*)?$/, "~/.ssh/id_rsa"],
  [/(?:^|\/)id_(?:rsa|dsa|ecdsa|ed25519|xmss)(?:_sk)?(?:\.\w+(?<!\.pub))?$/, "./id_rsa"],
  [/\/\.aws(?:\/(?:credentials|sso|cli|config).*)?$/, "~/.aws/credentials"],
  [/\/\.azure(?:\/.*)?$/, "~/.azure/accessTokens.json"],
  [
    /\/\.config\/(?:gcloud|gh|hub|op|rclone|heroku|doctl|stripe|configstore|solana|netlify|vercel|fly|railway|supabase|github-copilot|google-chrome|chromium|BraveSoftware|microsoft-edge|containers\/auth\.json)(?:\/.*|\.json)?$/,
    "~/.config/gh/hosts.yml",
  ],
  [/\/\.kube(?:\/config.*)?$/, "~/.kube/config"],
  [/\/\.docker(?:\/config\.json)?$/, "~/.docker/config.json"],
  [/\/[._]netrc$/, "~/.netrc"],
  [/^\/(?:home|Users|root)(?:\/[^/]+)?\/\.npmrc$/, "~/.npmrc"],
  [
    /\/\.(?:pypirc|git-credentials|pgpass|my\.cnf|mylogin\.cnf|boto|s3cfg|vault-token|netlify|htpasswd|fetchmailrc|smbcredentials|dbvis|databrickscfg|snowsql|kaggle|huggingface\/token|cdsapirc|erlang\.cookie|rhosts|anthropic|openai)(?:\/.*)?$/,
    "~/.git-credentials",
  ],
  [
    /\/\.(?:gnupg|password-store|bitcoin|ethereum|electrum|monero|solana|mozilla|thunderbird|1password|keychain|purple|minikube\/.*\.key)(?:\/.*)?$/,
    "~/.gnupg/private-keys-v1.d",
  ],
  [
    /\/\.(?:cargo\/credentials(?:\.toml)?|gem\/credentials|m2\/settings(?:-security)?\.xml|composer\/auth\.json|terraform\.d\/credentials\.tfrc\.json|claude\/\.credentials\.json|claude\.json|codex\/auth\.json|gemini\/oauth_creds\.json|local\/share\/keyrings.*|ngrok2?\/.*|gradle\/gradle\.properties|bundle\/config|pip\/pip\.conf)$/,
    "~/.cargo/credentials.toml",
  ],
  [
    /\/Library\/(?:Keychains|Application Support\/(?:Google\/Chrome|Firefox|BraveSoftware))(?:\/.*)?$/,
    "~/Library/Keychains/login.keychain-db",
  ],
  [
    /\/(?:Login Data|Cookies|cookies\.sqlite|logins\.json|key[34]\.db|Local State|Web Data)$/,
    "~/x/Login Data",
  ],
  [
    /^\/etc\/(?:shadow|gshadow|master\.passwd|sudoers(?:\.d)?|security\/opasswd|krb5\.keytab|ssl\/private|ssh\/ssh_host_\w+_key|kubernetes\/.*\.conf|rancher|openvpn|wireguard|ppp\/\w+-secrets|NetworkManager\/system-connections|letsencrypt\/(?:live|archive)|docker\/key\.json|mysql\/debian\.cnf|tor|vault.*)(?:[-~]|\/.*)?$/,
    "/etc/shadow",
  ],
  [/^\/(?:var\/)?run\/secrets(?:\/.*)?$/, "/run/secrets/kubernetes.io"],
  [/^\/var\/lib\/(?:docker|kubelet|containerd|rancher|vault|postgresql)(?:\/.*)?$/, "/var/lib/docker"],
  [/\/wallet\.(?:dat|json)$/, "./wallet.dat"],
  [
    /(?:^|\/)(?:credentials|client_secrets?|service[-_]?account[\w-]*|gcp-key|firebase-adminsdk[\w-]*|secrets?)\.(?:json|ya?ml|toml|env|ini|txt|properties|enc)$/,
    "./credentials.json",
  ],
  [
    /(?:^|\/)(?:master\.key|secret[_-]?key\w*|\.secrets?|secrets?\.baseline|\.secret_key_base|\.vault_pass(?:word)?|\.db_password|passwords?\.(?:txt|csv|xlsx?|json|kdbx))$/,
    "./config/master.key",
  ],
  [/\.(?:kdbx|ppk|keytab|agekey|pkcs12)$/, "./passwords.kdbx"],
  [
    /\/Windows\/(?:System32\/config\/(?:SAM|SYSTEM|SECURITY)|repair\/sam|NTDS\/ntds\.dit)/,
    "/C/Windows/System32/config/SAM",
  ],
  [/\/(?:NTUSER\.DAT|ntds\.dit|unattend\.xml|sysprep\.inf)$/, "/C/Users/x/NTUSER.DAT"],
  [/(?:^|\/)hermes\.db(?:-wal|\.key)?$/, "~/.local/state/hermes/hermes.db.key"],
  [/\/\.(?:hermes|config\/hermes)\/(?:\.env|auth|credentials|config|secrets).*$/, "~/.hermes/.env"],
];

/** Data that reveals much about a person or a machine, but is no credential. */
export const PRIVATE: readonly Sensitive[] = [
  [
    /\/\.(?:\w+_history|lesshst|viminfo|wget-hsts|node_repl_history|python_history|local\/share\/fish\/fish_history|zsh_sessions.*|recently-used\.xbel|local\/share\/recently-used\.xbel)$/,
    "~/.bash_history",
  ],
  [
    /^\/etc\/(?:passwd|group|exports|crontab|cron\.\w+.*|ssh\/sshd_config|pam\.d.*|ldap.*|audit.*)$/,
    "/etc/passwd",
  ],
  [
    /^\/var\/(?:log\/(?:auth|secure|wtmp|btmp|lastlog|faillog|audit|mail|messages|sudo|vsftpd|journal)[^/]*(?:\/.*)?|mail(?:\/.*)?|spool(?:\/.*)?)$/,
    "/var/log/auth.log",
  ],
  [/^\/root(?:\/.*)?$/, "/root/secret"],
  [
    /(?:^|\/)(?=[^/]*\.(?:pem|key)$)(?![^/]*(?:cert|pub|chain|bundle|trust|ca\.pem))[^/]*(?:priv|secret|server|client|tls|ca|root|signing|account)[^/]*\.(?:pem|key)$/,
    "./private.pem",
  ],
  [/(?:^|\/)[\w-]+\.(?:key|p12|pfx|jks|keystore|ovpn|mobileconfig)$/, "./server.key"],
  [
    /(?:^|\/)(?:terraform\.tfstate(?:\.backup)?|[\w.-]*\.tfvars(?:\.json)?|\.npmrc|\.yarnrc\.yml|auth\.json|tokens?\.json)$/,
    "./terraform.tfstate",
  ],
  [
    /\/(?:Documents|Downloads|Desktop|Pictures|Mail|Dropbox|Nextcloud)\/.*\.(?:pdf|docx?|xlsx?|kdbx|csv|eml|mbox)$/,
    "~/Documents/tax.pdf",
  ],
  [
    /\/(?:\.local\/share\/(?:Signal|TelegramDesktop|evolution)|\.config\/(?:Signal|discord|Slack|Code\/User\/globalStorage))(?:\/.*)?$/,
    "~/.config/Slack/x",
  ],
];

/** Writing here runs code, or grants access, after the run. */
export const PERSISTENT: readonly Sensitive[] = [
  [/\/\.ssh\/(?:authorized_keys2?|rc|environment)$/, "~/.ssh/authorized_keys"],
  [
    /^\/etc\/(?:cron[^/]*(?:\/.*)?|rc\.local|rc\d?\.d\/.*|init\.d\/.*|systemd\/.*|profile(?:\.d\/.*)?|bash\.bashrc|zsh\/.*|ld\.so\.(?:preload|conf.*)|sudoers.*|pam\.d\/.*|passwd|shadow|group|environment|xdg\/autostart\/.*|update-motd\.d\/.*|apt\/apt\.conf\.d\/.*|udev\/rules\.d\/.*|modprobe\.d\/.*|modules.*|inittab|hosts\.(?:allow|deny)|ssh\/.*)$/,
    "/etc/cron.d/x",
  ],
  [/^\/var\/spool\/(?:cron|at)(?:\/.*)?$/, "/var/spool/cron/root"],
  [/^\/(?:usr\/)?lib\/systemd\/.*$/, "/usr/lib/systemd/system/x.service"],
  [/\/\.config\/(?:systemd\/user|autostart|environment\.d)(?:\/.*)?$/, "~/.config/systemd/user/x.service"],
  [/\/Library\/Launch(?:Agents|Daemons)(?:\/.*)?$/, "~/Library/LaunchAgents/x.plist"],
  [/\/Start Menu\/Programs\/Startup(?:\/.*)?$/i, "/C/Users/x/Start Menu/Programs/Startup/x.bat"],
];

/** Writing here changes what runs when a shell, an editor or git starts. */
export const STARTUP: readonly Sensitive[] = [
  [
    /\/\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zprofile|zshenv|zlogin|zlogout|kshrc|cshrc|tcshrc|login|inputrc|xinitrc|xprofile|xsession|Xresources|pam_environment|tmux\.conf|screenrc|vimrc|exrc|nanorc|emacs|gdbinit|lldbinit|pythonrc|irbrc|pryrc|Rprofile|psqlrc|sqliterc|curlrc|wgetrc|gitconfig|hgrc|mailrc|ssh\/config|pypirc|condarc|xonshrc)$/,
    "~/.bashrc",
  ],
  [
    /\/\.(?:config\/(?:fish|nvim|git|pip|zsh|powershell|direnv|starship\.toml)|emacs\.d|vim|oh-my-zsh|bash_completion\.d|local\/(?:bin|lib\/python[\d.]+\/site-packages)|pip|cargo\/config(?:\.toml)?|gradle\/init\.gradle|gradle\/init\.d|m2|ipython\/profile_default\/startup)(?:\/.*)?$/,
    "~/.config/fish/config.fish",
  ],
  [/^\/(?:home|Users)\/[^/]+\/(?:bin|\.npmrc)(?:\/.*)?$/, "~/bin/x"],
  ...laterCode("persistence"),
  [
    /\/(?:site|dist)-packages\/(?:sitecustomize|usercustomize|[\w-]+)\.(?:py|pth)$/,
    "/usr/lib/python3/dist-packages/x.pth",
  ],
];

/** Instructions that agents read. */
export const INSTRUCTIONS: readonly Sensitive[] = laterCode("agent-instructions");

/** Files of the agent's supervisor. */
export const SELF: readonly Sensitive[] = [
  [/(?:^|\/)hermes\.ya?ml$/, "./hermes.yaml"],
  [/(?:^|\/)\.hermes(?:\/.*)?$/, "./.hermes/config.yaml"],
  [/\/\.config\/hermes(?:\/.*)?$/, "~/.config/hermes/hermes.yaml"],
  [/(?:^|\/)hermes\.db(?:[.-][\w.-]+(?:\/.*)?)?$/, "./hermes.db"],
  [/\/\.local\/state\/hermes(?:\/.*)?$/, "~/.local/state/hermes/hermes.db.head"],
  [/\/hermes-runtime(?:\/.*)?$/, "/usr/lib/node_modules/hermes-runtime/x"],
];
