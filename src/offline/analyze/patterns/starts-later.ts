const ROWS: readonly (readonly [place: RegExp, because: string])[] = [
  [
    /\/\.(bashrc|bash_profile|bash_login|profile|zshrc|zprofile|zshenv|cshrc|kshrc)$|^\/etc\/(profile|bash\.bashrc|profile\.d\/.*)$/,
    "runs at every login",
  ],
  [/^\/etc\/(cron[^/]*|anacrontab)(\/|$)|^\/var\/spool\/cron\//, "runs by the clock"],
  [/^\/(etc|usr\/lib|lib|run)\/systemd\/(system|user)\/|\/\.config\/systemd\/user\//, "is a service"],
  [
    /\/\.config\/autostart\/|^\/etc\/(init\.d|rc[^/]*\.d|xdg\/autostart)\/|^\/etc\/rc\.local$/,
    "runs at every start",
  ],
  [/^\/etc\/ld\.so\.preload$/, "is loaded into every program"],
  [/\/\.ssh\/(authorized_keys2?|rc)$/, "opens the door for a key"],
  [/^\/etc\/(passwd|shadow|sudoers|sudoers\.d\/.*|pam\.d\/.*)$/, "decides who may do what"],
  [/\/\.git\/hooks\/(?!.*\.sample$)[^/]+$/, "runs at git commands"],
];

/** Why a file that is written is run, or believed, later. */
export function startsLater(path: string): string | undefined {
  return ROWS.find(([place]) => place.test(path))?.[1];
}
