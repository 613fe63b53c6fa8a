/** Texts and names that would become SQL if they were put into a statement unquoted, for injection.test.ts. */

// biome-ignore format: a list
export const corpus = [
  "'", "''", "\\'", "'; drop table notes; --", "' or '1'='1", "') or true --", "x' union select secret from vault --", '"', '""',
  '"; drop table notes; --', '" or true or "', "--", "/*", "*/", "/* x */ or true", "$$", "$$; drop table notes; $$", "$body1$", "$1",
  "$a$", "\\", "\\\\", "\\x27", "\\'; select pg_sleep(9); --", "E'\\n'", "U&'\\0027'", 'U&"\\0022"', "\u2019", "\uff07", "\u02bc", "😀",
  "\u202e", "\0", "a\0b", "\ud800", "\udc00x", ";", "%I", "%L", "%s", "%1$s", "%n$L", "%", "_", "%%", "select", "null", "NULL",
  "true", "order", "user", "ID", "title desc", "title, (select 1)", "1; select 1", "(select secret from vault)", "__proto__",
  "constructor", "toString", "OR", "AND", "op", "value", "$.title", "$[*] ? (@ == 1)", "title'->>'x", "{}", "[]", '{"op":"eq"}', "1e999",
  "-0", "NaN", "Infinity", "2147483648", "infinity", "now", "\n", "\r\n; drop table notes;", "\t", " ", "", "x".repeat(64),
  "'".repeat(5000), "(".repeat(5000), "x".repeat(100_000), "[".repeat(200_000),
];

/** Names that an author may give to columns; all need quotes, or have a meaning in PL/pgSQL. */
// biome-ignore format: a list
export const names = [
  'we"ird"; drop table notes; --', "it's", "$$", "$body1$", "%I %L %s %1$s", "back\\slash\\'", "Mixed Case", "new\nline; --", 'U&"\\0022"',
  "😀", "x".repeat(63), "item", "t", "page", "data", "changes", "input", "result", "args", "row_id", "sort_key", "n", "condition",
  "begin", "by", "declare", "execute", "foreach", "if", "loop", "strict", "while",
  "constructor", "__proto__", "toString", "order", "user", "select", "left", "between", "authorization", "default", "table", "null",
];
