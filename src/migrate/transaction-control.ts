/**
 * Keeps all files of a migration in one transaction. Finds statements that would end it: after a COMMIT the rest of a file
 * would run as the administrator, and a failure would leave half of it.
 */

import type pg from "pg";
import { MigrationError } from "./migration-error.ts";
import type { MigrationFile } from "./migration-files.ts";

/**
 * Comments, texts, names in quotes and bodies of functions: nothing in them is a statement of the file. Of a comment in
 * slashes only its beginning, because it may have others in it. In names PostgreSQL takes every character beyond ASCII.
 */
const quoted =
  /--[^\n]*|\/\*|\be'(?:[^'\\]|\\[\s\S]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|(?<![\w$\u0080-\uffff])(\$(?:[a-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$)[\s\S]*?\1/gi;
/** Only BEGIN has no effect within a transaction. END also ends the body of a function that BEGIN ATOMIC began. */
const control =
  /\bbegin\s+atomic\b|(?<=^|;|\batomic)\s*(commit|rollback|abort|end|prepare\s+transaction)\b(?!\s+(?:(?:work|transaction)\s+)?to\b)/gi;

/** @param path of the file, in its scope @throws MigrationError with the line */
export function refuseTransactionControl(path: string, { text }: Pick<MigrationFile, "text">): void {
  const found = transactionControlIn(text);
  if (!found) return;
  throw new MigrationError(`${path.replace(/^application\//, "")}:${found.line}: ${found.statement} in a migration`, {
    hint: "Leave out BEGIN, COMMIT, END and ROLLBACK: `svc migrate` applies all files in one transaction, or none of them.",
    file: path,
  });
}

/** The first statement that would end the transaction, in capitals, and its line. */
export function transactionControlIn(text: string): { statement: string; line: number } | undefined {
  const bare = withoutQuoted(text);
  let bodies = 0;
  const found = [...bare.matchAll(control)].find(([, statement]) => {
    if (statement === undefined) bodies++;
    else if (/^end$/i.test(statement) && bodies > 0) bodies--;
    else return true;
    return false;
  });
  if (!found) return undefined;
  const [whole, statement = ""] = found;
  return {
    statement: statement.toUpperCase(),
    line: bare.slice(0, found.index + whole.length).split("\n").length,
  };
}

/** As long as the text, with the same lines. */
function withoutQuoted(text: string): string {
  let [bare, from] = ["", 0];
  while (true) {
    quoted.lastIndex = from;
    const found = quoted.exec(text);
    if (!found) return bare + text.slice(from);
    const end = found[0] === "/*" ? endOfComment(text, quoted.lastIndex) : quoted.lastIndex;
    bare += text.slice(from, found.index) + text.slice(found.index, end).replace(/[^\n]/g, " ");
    from = end;
  }
}

function endOfComment(text: string, start: number): number {
  let depth = 1;
  for (const { 0: mark, index } of text.slice(start).matchAll(/\/\*|\*\//g)) {
    depth += mark === "/*" ? 1 : -1;
    if (depth === 0) return start + index + mark.length;
  }
  return text.length;
}

/** PostgreSQL alters no table, as for its policies, while a deferred constraint has rows of it to check. */
export async function checkDeferred(client: pg.Client): Promise<void> {
  await client.query("set constraints all immediate").catch((cause) => {
    throw new MigrationError(`A deferred constraint refuses rows of the new migrations: ${cause.message}`, { cause });
  });
}
