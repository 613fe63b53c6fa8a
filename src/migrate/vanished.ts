/**
 * Migrations of the application that a database has and whose files are gone, as after a switch of branches. Every
 * command that compares the two reports them in the same words.
 */
import { withClient } from "../postgres/with-client.ts";
import { type Folders, readFiles, readLedger, unknownMigrations } from "./ledger.ts";

/** How long to wait for a database that may not answer, in milliseconds. */
const patienceMs = 5_000;

/** @param options.adminUrl any login that can read the ledger @returns paths below the application's folder */
export async function findVanished({ adminUrl, ...folders }: Folders & { adminUrl: string }): Promise<string[]> {
  return withClient(
    adminUrl,
    "svc migrate status",
    async (client) => vanishedOf(unknownMigrations(await readLedger(client), await readFiles(folders, ["migrations"]))),
    { connectionTimeoutMillis: patienceMs },
  );
}

/** The application's among paths that begin with their scope. */
export const vanishedOf = (paths: readonly string[]): string[] =>
  paths.filter((path) => path.startsWith("application/")).map((path) => path.slice("application/".length));

/** @param files at least one */
export function describeVanished(files: readonly string[]): string {
  const listed = `${files.slice(0, 3).join(", ")}${files.length > 3 ? `, and ${files.length - 3} more` : ""}`;
  const these = files.length === 1 ? "a migration whose file is" : `${files.length} migrations whose files are`;
  return (
    `This database has ${these} gone: ${listed}.\n` +
    `  Another branch has the file, or it was deleted. Bring it back (\`git log --all -- ${files[0]}\` finds where it is), or ` +
    "empty a development database with `svc migrate reset`. In production, deploy the version that has it."
  );
}
