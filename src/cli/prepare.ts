/**
 * `svc prepare`: everything before serving, in one process: generates files, writes the next migration if it can lose
 * nothing, and migrates the database. `svc dev` runs it after every change; a deploy may, too.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { loadApp } from "../app/load-app.ts";
import { writeAuthSchema } from "../auth/auth-schema.ts";
import { codegen, writeAiModule } from "../codegen/codegen.ts";
import { generateMigration } from "../migrate/generate/schema-generate.ts";
import { migrate } from "../migrate/migrate.ts";
import { MigrationError } from "../migrate/migration-error.ts";
import { type FileStatus, migrationStatus } from "../migrate/migration-status.ts";
import { describeVanished, vanishedOf } from "../migrate/vanished.ts";
import { isDeveloping, readConfig, say, targetOf, withDatabase } from "./command.ts";
import { describe, type Finding, findings, newFindings } from "./db/lint.ts";
import { defineCommand } from "./define.ts";
import { flag } from "./options.ts";
import { conclude, during } from "./output.ts";

export const command = defineCommand({
  args: { quick: flag("Skip the migration when every file of the application has been applied.") },
  run: async ({ cwd, quick }) => {
    const config = await readConfig(cwd);
    const changes: string[] = [];
    const report = (line: string) => {
      changes.push(line);
      say(line);
    };
    const done = (applied: string[], news: Finding[]) => {
      conclude({ changes, applied, findings: news });
      // To `svc dev`: what this process has loaded may be older than the files that it wrote.
      if (isDeveloping) process.send?.(changes.length > 0 ? "outdated" : "prepared");
    };
    const first = [...(await writeAuthSchema(config)), ...(await writeAiModule(config))]; // the application may import them
    for (const file of first) report(`wrote ${file}`);
    const app = await loadApp(config);
    for (const line of await codegen(config, app)) report(line);
    const generated = await generateMigration(config, { renames: [], drops: [], careful: true });
    for (const file of generated) report(`wrote ${file}`);
    await withDatabase(config, {}, async (cluster) => {
      const target = targetOf(config, cluster.urls.admin);
      if (quick && changes.length === 0) {
        const own = await migrationStatus({ ...target, only: "application" });
        if (own.every(({ state }) => state === "applied")) return done([], []);
      }
      const files = await migrationStatus(target);
      const inState = (wanted: FileStatus["state"]) =>
        files.filter(({ state }) => state === wanted).map(({ path }) => path);
      const vanished = vanishedOf(inState("missing"));
      if (vanished.length > 0) say(describeVanished(vanished));
      // What the linter finds is printed at once, because a new table is easy to change.
      const isNew = inState("pending").some((path) => isLinted.test(path));
      const look = async () => (isNew ? findings(cluster.urls.admin) : []);
      const before = await look();
      const applied = await during("Applying the files of migrations/ and sql/", () => migrate(target)).catch((error) =>
        takeBack(config.cwd, generated, error),
      );
      const own = applied.filter((file) => !file.startsWith("platform/"));
      const ofPlatform = applied.length - own.length;
      if (ofPlatform > 0) say(`applied ${ofPlatform} ${ofPlatform === 1 ? "file" : "files"} of the platform`);
      for (const file of own) say(`applied ${file.replace(/^application\//, "")}`);
      const news = newFindings(before, await look());
      for (const finding of news) say(`\n${describe(finding)}`);
      done(applied, news);
    });
  },
});

/** Files of the application that may bring findings: all but generated functions. */
const isLinted = /^application\/(migrations|sql\/(?!crud\/))/;

/**
 * Deletes a migration that was just generated and cannot be applied: left standing, it would have to be edited by hand,
 * even after the schema has been corrected.
 */
async function takeBack(cwd: string, generated: readonly string[], error: unknown): Promise<never> {
  if (!(error instanceof MigrationError) || !generated.some((file) => error.file === `application/${file}`))
    throw error;
  for (const file of generated) await rm(join(cwd, file));
  error.message += `\n  ${generated.join(" and ")} were deleted again. Correct the schema; or write the migration with \`svc migrate generate\` and edit it.`;
  throw error;
}
