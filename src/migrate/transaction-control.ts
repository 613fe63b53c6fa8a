/**
 * Finds statements that would end the transaction in which all files are applied. After a COMMIT the rest of a file would
 * run as the administrator, and a failure would leave half of it.
 */

import { MigrationError } from "./migration-error.ts";
import type { MigrationFile } from "./migration-files.ts";

/** Comments, texts, names in quotes and bodies of functions: nothing in them is a statement of the file. */
const quoted =
  /--[^\n]*|\/\*[\s\S]*?\*\/|\be'(?:[^'\\]|\\[\s\S]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|(?<![\w$])(\$(?:[a-z_]\w*)?\$)[\s\S]*?\1/gi;
/** Only BEGIN has no effect within a transaction. END may end the body of a function. */
const control = /(?:^|;)\s*(commit|rollback|abort|prepare\s+transaction)\b(?!\s+(?:(?:work|transaction)\s+)?to\b)/i;

/** @param path of the file, in its scope @throws MigrationError with the line */
export function refuseTransactionControl(path: string, { text }: Pick<MigrationFile, "text">): void {
  const bare = text.replace(quoted, (found) => found.replace(/[^\n]/g, " "));
  const found = control.exec(bare);
  if (!found) return;
  const [whole, statement = ""] = found;
  const line = bare.slice(0, found.index + whole.length).split("\n").length;
  throw new MigrationError(`${path.replace(/^application\//, "")}:${line}: ${statement.toUpperCase()} in a migration`, {
    hint: "Leave out BEGIN, COMMIT and ROLLBACK: `svc migrate` applies all files in one transaction, or none of them.",
    file: path,
  });
}
