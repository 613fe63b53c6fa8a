/**
 * `svc migrate generate`: writes the next migration from the schema. Never prompts, needs no database. If one runs, it
 * says which of its migrations these files lack.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeAuthSchema } from "../auth/auth-schema.ts";
import { runningAddress } from "../cluster/open-cluster.ts";
import type { EffectiveConfig } from "../config/config.ts";
import { generateMigration } from "../migrate/generate/schema-generate.ts";
import { describeVanished, findVanished } from "../migrate/vanished.ts";
import { platformRoot, readConfig, say } from "./command.ts";
import { defineCommand } from "./define.ts";
import { flag, text, texts } from "./options.ts";
import { conclude } from "./output.ts";

export const command = defineCommand({
  args: {
    name: text("Words for the file's name. (Default: what was changed)"),
    rename: texts("old:new or table.old:table.new; may be repeated. (Default: nothing was renamed)"),
    drop: texts("A name that was dropped and not renamed; may be repeated. (Default: nothing)"),
    baseline: flag("Only write the snapshot: the migrations already match the schema."),
  },
  run: async (args) => {
    const config = await readConfig(args.cwd);
    const first = await writeAuthSchema(config); // the schema may import it
    await tellVanished(config);
    const written = await generateMigration(config, {
      name: args.name,
      renames: args.rename,
      drops: args.drop,
      baseline: args.baseline,
    });
    const wrote = [...first, ...written];
    const none = written.length === 0 ? ["Nothing to generate."] : [];
    conclude({ wrote }, ...wrote.map((file) => `wrote ${file}`), ...(await warningsIn(config, written)), ...none);
  },
});

/** What a migration loses, and where it may fail, as its comments tell the reviewer (`src/migrate/generate/schema-losses.ts`). */
async function warningsIn({ cwd }: EffectiveConfig, written: readonly string[]): Promise<string[]> {
  const files = written.filter((file) => file.endsWith(".sql"));
  const texts = await Promise.all(files.map((file) => readFile(join(cwd, file), "utf8")));
  return texts.flatMap((text) =>
    [...text.matchAll(/^-- ((?:Loses|Fails) .*)$/gm)].map(([, warning]) => `  ${warning}`),
  );
}

/** A database that does not answer is not needed. */
async function tellVanished({ cwd, production }: EffectiveConfig): Promise<void> {
  const adminUrl = production ? null : runningAddress(join(cwd, ".svc"));
  if (adminUrl === null) return;
  const files = await findVanished({ adminUrl, platform: platformRoot, application: cwd }).catch(() => []);
  if (files.length > 0) say(describeVanished(files));
}
