/** `svc migrate generate`: writes the next migration from the schema. Never prompts, needs no database. */
import { writeAuthSchema } from "../auth/auth-schema.ts";
import { generateMigration } from "../migrate/generate/schema-generate.ts";
import { cwdArgument, readConfig, run } from "./command.ts";
import { defineCommand } from "./define.ts";
import { conclude } from "./output.ts";

export const migrateGenerate = defineCommand({
  meta: { name: "generate", description: "Write the next migration from the schema." },
  args: {
    ...cwdArgument,
    name: { type: "string", description: "Words for the file's name. (Default: what was changed)" },
    rename: {
      type: "string",
      repeatable: true,
      description: "old:new or table.old:table.new; may be repeated. (Default: nothing was renamed)",
    },
    drop: {
      type: "string",
      repeatable: true,
      description: "What is gone and was not renamed; may be repeated. (Default: nothing)",
    },
    baseline: { type: "boolean", description: "Only note that the migrations say what the schema says." },
  },
  run: ({ args }) =>
    run(args.cwd, async () => {
      const config = await readConfig(args.cwd);
      const first = await writeAuthSchema(config); // the schema may import it
      const written = await generateMigration(config, {
        name: args.name,
        renames: args.rename,
        drops: args.drop,
        baseline: args.baseline,
      });
      const wrote = [...first, ...written];
      const none = written.length === 0 ? ["Nothing to generate."] : [];
      conclude({ wrote }, ...wrote.map((file) => `wrote ${file}`), ...none);
    }),
});
