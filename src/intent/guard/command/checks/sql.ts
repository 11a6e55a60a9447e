import { HOLE, type Word } from "../script.js";
import { type CommandCheck, ruleHit } from "./check.js";

const CLIENTS =
  /^(psql|mysql|mariadb|sqlite3?|mysqlsh|sqlcmd|clickhouse-client|clickhouse|duckdb|bq|isql|usql|pgcli|mycli|litecli|cqlsh|snowsql|impala-shell|beeline|hive|presto|trino|cockroach|sqlplus|osql|tsql|db2|vsql|spark-sql|athena|turso|wrangler|supabase|rqlite|ysqlsh|litestream|fdbcli|Invoke-Sqlcmd|heroku|doctl|flyctl|prisma|manage\.py|python3?|php|rails|artisan|wp|drush|docker|kubectl)$/;
/** Programs whose words are only text. */
const TEXT =
  /^(echo|printf|cat|grep|egrep|fgrep|rg|ag|ack|git|sed|awk|gh|glab|jira|curl|http|print|logger|say|notify-send|touch|mkdir|ls|find|test|\[|tee|hub|code|vim|nano|man|apropos|which|alias|export|read|jest|vitest|pytest|mocha|playwright|cypress|npx|npm|yarn|pnpm|bun|ctest|rspec|phpunit)$/;

/** Judges statements that drop, empty or change whole tables, or that reach outside the database. */
export const checkSql: CommandCheck = ({ argv, input, span }, { program }) => {
  if (argv.length === 0) return [];
  const typed =
    /^(DROP|TRUNCATE|DELETE|ALTER|UPDATE|GRANT|drop|truncate|delete)$/.test(program) && argv.length > 1;
  if (typed && destructive(argv.map(({ text }) => text).join(" "))) return [ruleHit("sql-destructive", span)];
  const words = TEXT.test(program) ? [] : argv.slice(1).filter((word) => looksLikeSql(word.text));
  const bad: (Word | undefined)[] = words.filter(({ text }) => destructive(text));
  const joined =
    CLIENTS.test(program) &&
    destructive(
      argv
        .slice(1)
        .map(({ text }) => text)
        .join(" "),
    );
  const fed =
    CLIENTS.test(program) && input !== undefined && input.kind !== "file" && destructive(input.text);
  if (bad.length === 0 && (joined || fed)) bad.push(undefined);
  return bad.map((word) => ruleHit("sql-destructive", word?.span ?? span));
};

const looksLikeSql = (text: string) =>
  text.length < 65_536 &&
  /\s/.test(text) &&
  /\b(drop|truncate|delete|update|alter|grant|copy|outfile|xp_cmdshell|load_file)\b/i.test(text);

const WHOLE =
  /\b(drop\s+(table|database|schema|user|role|view|index|materialized|owned|tablespace|function|procedure|trigger|column|keyspace|collection|extension|constraint|sequence|type|partition)|truncate\s+(table\s+)?[\w"`[.]|alter\s+table\s+\S+\s+drop|grant\s+all|alter\s+(user|role)\s|create\s+(user|role)\s|copy\s+[^;]*\b(from|to)\s+program|into\s+(outfile|dumpfile)|load_file\s*\(|xp_cmdshell|sys_exec|pg_read_file|pg_terminate_backend|lo_import|dbms_scheduler|shutdown\s*;|flush\s+privileges|set\s+password|detach\s+database|drop\s+if\s+exists)/i;

function destructive(text: string): boolean {
  if (text.length > 65_536) return true;
  const statements = text
    .replace(/--[^\n]*|\/\*[^*]*\*\//g, " ")
    .replaceAll(HOLE, "x")
    .split(";");
  return statements.some((statement) => WHOLE.test(`${statement};`) || withoutCondition(statement));
}

/** DELETE and UPDATE of every row: without WHERE, or with one that is always true. */
function withoutCondition(statement: string): boolean {
  const changes = /\bdelete\s+from\s+[\w"`[.]|\bupdate\s+[\w"`[\].]+\s+set\s/i.exec(statement);
  if (!changes) return false;
  const where = /\bwhere\b(.*)$/is.exec(statement)?.[1];
  if (where === undefined) return !/\busing\b|\bjoin\b|\blimit\b/i.test(statement);
  return (
    /^\s*\(?\s*(true|1\s*(=\s*1)?|'?(\w+)'?\s*=\s*'?\3'?|not\s+false|1\s*<>?\s*\d)\s*\)?\s*(or\b.*)?$/i.test(
      where.trim(),
    ) || /\bor\s+(1\s*=\s*1|true)\b/i.test(where)
  );
}
