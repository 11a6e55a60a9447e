/** Characters that mean nothing to bash's grammar; text between quotes that expands nothing. */
const WORD = String.raw`(?:[\w./:,@%+=^-]|'[^'\0]*'|"[^"\\$\`!\0]*")+`;
/** These begin or end something where a command may stand. */
const RESERVED = "if|then|else|elif|fi|case|esac|for|select|while|until|do|done|in|function|time|coproc";
const COMMAND = String.raw`(?!(?:${RESERVED})(?![^ \t&|;]))${WORD}(?:[ \t]+${WORD})*`;
const PLAIN = new RegExp(String.raw`^[ \t]*${COMMAND}(?:[ \t]*(?:&&|\|\||\||;)[ \t]*${COMMAND})*[ \t]*$`);
const LONGEST = 4096;

/** Simple commands in a row, such as `git status && npm test`: bash can certainly parse them. */
export function isPlainScript(command: string): boolean {
  return command.length <= LONGEST && PLAIN.test(command);
}
