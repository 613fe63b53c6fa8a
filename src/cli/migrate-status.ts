/** `svc migrate status`: lists which files of migrations/ and sql/ the database has and which it lacks. For people and CI. */
import { compareFiles, refusedFor } from "../migrate/ledger.ts";
import { type FileStatus, migrationStatus } from "../migrate/migration-status.ts";
import { describeVanished, vanishedOf } from "../migrate/vanished.ts";
import { databaseCommand, say, targetOf } from "./command.ts";
import { flag } from "./options.ts";
import { output, print } from "./output.ts";
import { type Columns, paint, tableOf } from "./table.ts";

export const command = databaseCommand("admin", {
  args: { verbose: flag("List the platform's applied files, too.") },
  run: async (cluster, { verbose }, config) => {
    const target = targetOf(config, cluster.urls.admin);
    const files = (await migrationStatus(target)).toSorted((a, b) => rank(a) - rank(b));
    const listed = verbose ? files : files.filter((file) => file.state !== "applied" || !isPlatform(file));
    print(files, () => tableOf(columns, listed));
    const isRefused = config.production && refusedFor(await compareFiles(target)).length > 0;
    say(summary(files, isRefused));
    const hidden = files.length - listed.length;
    if (hidden > 0 && !output.json) say(`Not listed: ${hidden} applied files of the platform; --verbose lists them.`);
    if (files.some(({ state }) => state !== "applied")) process.exitCode = 1;
  },
});

const columns: Columns<FileStatus> = {
  state: ({ state }) => paint(state, colours[state]),
  "applied at (UTC)": "appliedAt",
  file: "path",
};

const isPlatform = ({ path }: FileStatus) => path.startsWith("platform/");

/** Findings first, and the application's files before the platform's. */
const rank = (file: FileStatus) => (file.state === "applied" ? 2 : 0) + (isPlatform(file) ? 1 : 0);

const colours: Record<FileStatus["state"], number> = { applied: 32, pending: 33, edited: 31, missing: 31 };

const advice = {
  pending: "Run `svc migrate`.",
  edited: "Restore their text and write a new migration for the change.",
};

/** Instead of the advice for pending files, in production where newer files have migrated the database. */
const refused =
  "Newer files have migrated this database, so `svc migrate` refuses these: deploy the newer version, or pass --allow-older.";

function summary(files: readonly FileStatus[], isRefused: boolean): string {
  const missing = files.filter(({ state }) => state === "missing").map(({ path }) => path);
  const counts = (["pending", "edited"] as const).flatMap((state) => {
    const count = files.filter((file) => file.state === state).length;
    return count > 0 ? `${count} ${state}. ${isRefused && state === "pending" ? refused : advice[state]}` : [];
  });
  const vanished = vanishedOf(missing);
  if (vanished.length > 0) counts.push(describeVanished(vanished));
  const newer = missing.length - vanished.length;
  if (newer > 0) counts.push(`${newer} missing. They are of the platform: another version of svc has migrated here.`);
  return counts.length > 0 ? counts.join("\n") : `Everything is applied: ${files.length} files.`;
}
