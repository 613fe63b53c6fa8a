/** `svc codegen`: writes what follows from the definitions. Needs no database. */
import { defineCommand } from "citty";
import { codegen } from "../codegen/codegen.ts";
import { loadApp } from "../service/load-app.ts";
import { cwdArgument, readConfig, run, say } from "./command.ts";

export const codegenCommand = defineCommand({
  meta: { name: "codegen", description: "Write the SQL functions of generated CRUD." },
  args: cwdArgument,
  run: ({ args }) =>
    run(args.cwd, async () => {
      const config = await readConfig(args.cwd);
      const changed = await codegen(config, await loadApp(config));
      say(changed.length === 0 ? "Everything is up to date." : changed.map((file) => `wrote ${file}`).join("\n"));
    }),
});
