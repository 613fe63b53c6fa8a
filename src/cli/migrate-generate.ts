/** `svc migrate generate`: writes the next migration from the schema. Never prompts, needs no database. */
import { defineCommand } from "citty";
import { writeAuthSchema } from "../auth/auth-schema.ts";
import { generateMigration } from "../migrate/generate/schema-generate.ts";
import { cwdArgument, readConfig, run, say } from "./command.ts";

export const migrateGenerate = defineCommand({
  meta: { name: "generate", description: "Write the next migration from the schema." },
  args: {
    ...cwdArgument,
    name: { type: "string", description: "Words for the file's name. (Default: what was changed)" },
    rename: {
      type: "string",
      description: "old:new or table.old:table.new; may be repeated. (Default: nothing was renamed)",
    },
    drop: { type: "string", description: "What is gone and was not renamed; may be repeated. (Default: nothing)" },
    baseline: { type: "boolean", description: "Only note that the migrations say what the schema says." },
  },
  run: ({ args, rawArgs }) =>
    run(args.cwd, async () => {
      const config = await readConfig(args.cwd);
      const first = await writeAuthSchema(config); // the schema may import it
      const written = await generateMigration(config, {
        name: args.name,
        renames: valuesOf(rawArgs, "rename"),
        drops: valuesOf(rawArgs, "drop"),
        baseline: args.baseline ?? false,
      });
      for (const file of [...first, ...written]) say(`wrote ${file}`);
      if (written.length === 0) say("Nothing to generate.");
    }),
});

/** All values of a repeatable option, of which citty keeps only the last: `--drop a b`, `--drop a --drop=b`. */
function valuesOf(rawArgs: readonly string[], option: string): string[] {
  const values: string[] = [];
  let taking = false;
  for (const argument of rawArgs) {
    if (argument.startsWith(`--${option}=`)) values.push(argument.slice(option.length + 3));
    else if (argument.startsWith("-")) taking = argument === `--${option}`;
    else if (taking) values.push(argument);
  }
  return values;
}
