/** What a server of the operator's own lacks is the operator's decision; a process that needs it does not start. */
import { DefinitionError } from "../kit/definition-error.ts";
import { compareFiles } from "../migrate/ledger.ts";
import { say } from "./command.ts";

/**
 * @returns whether newer files than these have migrated the database, which is said: a process of the version before may be
 *   started again until the release is through
 * @throws DefinitionError that names the files that the database lacks
 */
export async function refusePending(target: Parameters<typeof compareFiles>[0]): Promise<boolean> {
  const { pending, newer } = await compareFiles(target);
  if (pending.length === 0) {
    if (newer.length > 0) {
      say(
        `A newer version has migrated this database (${newer.slice(0, 3).join(", ")}${newer.length > 3 ? ", …" : ""}). This one ` +
          "goes on as it is: replace it when the release goes on.",
      );
    }
    return newer.length > 0;
  }
  throw new DefinitionError(`The database lacks ${pending.length} files:\n  ${pending.join("\n  ")}`, {
    hint: "Run `svc migrate` first.",
  });
}
