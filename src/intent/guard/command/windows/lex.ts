/** One command of cmd.exe or PowerShell, as words in lower case: both ignore case. */
export type WindowsCommand = readonly string[];

export type WindowsDialect = "cmd" | "powershell";

const VERBS =
  "add|clear|compare|compress|convert|convertfrom|convertto|copy|disable|enable|enter|exit|expand|export|find|foreach|format|get|import|initialize|install|invoke|join|measure|mount|move|new|out|push|pop|read|receive|register|remove|rename|reset|resolve|restart|restore|resume|save|select|send|set|sort|split|start|stop|suspend|tee|test|unblock|uninstall|unregister|update|wait|where|write";
/** Programs of Unix whose names look like cmdlets. */
const UNIX =
  "(?:update-(?:alternatives|grub|initramfs|rc|ca-|desktop|mime|notifier|passwd|locale|fonts|icon|menus|python|java|xml|binfmts|texmf|info|pciids|usbids|apt|shells|motd)|(?:add|remove)-(?:apt|shell)|install-(?:info|docs|menu|sh|packages?)|start-(?:stop|server)|select-(?:editor|default)|set-default|find-dbgsym|test-(?:runner|results?))";
const CMDLET = new RegExp(`(?:^|[|;&({=\\n]\\s*)(?:[.&]\\s*)?(?!${UNIX})(?:${VERBS})-[a-z]\\w+`, "i");
const POWERSHELL =
  /\$env:\w|\$\(?[A-Za-z_]\w*\s*=\s*(?:\[|New-|Get-)|\[(?:System|Net|Convert|Text|IO|Reflection|Diagnostics|Runtime|Environment)\b[\w.]*\]|(?:^|[|;&({]\s*)(?:iex|iwr|irm|icm|gci|gc|sajb|saps|spps)\b|\bNew-Object\b|\benv:\*?(?:\s|$)/i;
const CMD =
  /^\s*@?(?:mshta|wmic|regsvr32|rundll32|certutil|bitsadmin|vssadmin|wbadmin|bcdedit|schtasks|wevtutil|diskpart|cmdkey|icacls|takeown|taskkill)(?:\.exe)?\s|^\s*@?(?:del|erase|rd|rmdir|format|copy|xcopy|robocopy|reg|schtasks|wmic|vssadmin|wbadmin|bcdedit|taskkill|icacls|takeown|attrib|cipher|netsh|sc|net|type|dir|ren|move|mklink|fsutil|diskpart|certutil|bitsadmin|mshta|rundll32|regsvr32|wscript|cscript|cmd|start|shutdown|wevtutil|cmdkey|runas|where|for|if|call|set|powercfg|assoc|ftype|subst|label|chkdsk|sfc|dism|w32tm|nltest|dsquery|setx|logoff|tskill|whoami)(?:\.exe)?(?:\s+\/[a-z?]+|.*(?:[a-z]:(?:\\|\s|$)|\s\/[a-z]+\b|%[\w~:]+%|\\\w|\^))/i;

/** The Windows shells that a text looks written for; often none. */
export function dialectsOf(text: string): WindowsDialect[] {
  const dialects: WindowsDialect[] = [];
  if (CMDLET.test(text) || POWERSHELL.test(text)) dialects.push("powershell");
  if (text.split(/[&|\n]+/).some((part) => CMD.test(part))) dialects.push("cmd");
  return dialects;
}

export function lex(text: string, dialect: WindowsDialect): WindowsCommand[] {
  const [quote, separators] = dialect === "cmd" ? ["^", "&|\n()"] : ["`", ";|\n{}()&"];
  const commands: string[][] = [[]];
  let word: string | undefined;
  const endWord = () => {
    if (word !== undefined) commands.at(-1)!.push(word.toLowerCase());
    word = undefined;
  };
  for (let i = 0; i < text.length; i++) {
    const character = text[i]!;
    if (character === quote && i + 1 < text.length) word = (word ?? "") + text[++i];
    else if (character === '"' || (character === "'" && dialect === "powershell")) {
      const end = text.indexOf(character, i + 1);
      word = (word ?? "") + text.slice(i + 1, end < 0 ? text.length : end);
      i = end < 0 ? text.length : end;
    } else if (separators.includes(character)) {
      endWord();
      if (commands.at(-1)!.length > 0) commands.push([]);
    } else if (character === "+" && dialect === "powershell" && /['"\s]/.test(text[i - 1] ?? "")) {
      // 'I'+'EX' is one word
      while (text[i + 1] === " ") i++;
    } else if (/\s/.test(character)) {
      if (dialect === "powershell" && /^\s*\+\s*['"]/.test(text.slice(i, i + 8))) continue;
      endWord();
    } else word = (word ?? "") + character;
  }
  endWord();
  return commands.filter((command) => command.length > 0).slice(0, 256);
}
