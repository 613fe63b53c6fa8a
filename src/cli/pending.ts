/** Refuses to start a process on the operator's own server while migrations are pending: the operator decides when to migrate. */
import { DefinitionError } from "../kit/definition-error.ts";
import { compareFiles } from "../migrate/ledger.ts";
import { say } from "./command.ts";

/**
 * @returns whether newer files have migrated the database, which is printed: during a release, a process of the
 *   previous version may start again
 * @throws DefinitionError that lists the application's pending files, and counts the platform's
 */
export async function refusePending(target: Parameters<typeof compareFiles>[0]): Promise<boolean> {
  const { pending, newer } = await compareFiles(target);
  if (pending.length === 0) {
    if (newer.length > 0) {
      say(
        `A newer version has migrated this database (${newer.slice(0, 3).join(", ")}${newer.length > 3 ? ", …" : ""}). This one ` +
          "process starts with the older files: replace it to finish the release.",
      );
    }
    return newer.length > 0;
  }
  const own = pending.filter((path) => !path.startsWith("platform/"));
  const ofPlatform = pending.length - own.length;
  const lines = [
    ...own.slice(0, listed),
    ...(own.length > listed ? [`${own.length - listed} more of the application`] : []),
    ...(ofPlatform > 0 ? [`${ofPlatform} of the platform`] : []),
  ];
  throw new DefinitionError(`The database lacks ${pending.length} files:\n  ${lines.join("\n  ")}`, {
    hint: "Run `svc migrate` first. `svc migrate status` lists them.",
  });
}

const listed = 10;
