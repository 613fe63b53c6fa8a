/** What a server of the operator's own lacks is the operator's decision; a process that needs it does not start. */
import { DefinitionError } from "../define/definition-error.ts";
import { pendingMigrations } from "../postgres/migrate.ts";

/** @throws DefinitionError that names the files */
export async function refusePending(target: Parameters<typeof pendingMigrations>[0]): Promise<void> {
  const pending = await pendingMigrations(target);
  if (pending.length === 0) return;
  throw new DefinitionError(`The database lacks ${pending.length} files:\n  ${pending.join("\n  ")}`, {
    hint: "Run `svc migrate` first.",
  });
}
