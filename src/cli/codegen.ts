/** `svc codegen`: generates files from the definitions. Needs no database. */
import { loadApp } from "../app/load-app.ts";
import { writeAuthSchema } from "../auth/auth-schema.ts";
import { codegen, writeAiModule } from "../codegen/codegen.ts";
import { readConfig } from "./command.ts";
import { defineCommand } from "./define.ts";
import { conclude, during } from "./output.ts";

export const command = defineCommand({
  run: async ({ cwd }) => {
    const config = await readConfig(cwd);
    const first = [...(await writeAuthSchema(config)), ...(await writeAiModule(config))]; // the application may import them
    const done = [
      ...first.map((file) => `wrote ${file}`),
      ...(await codegen(config, await during("Loading the application", () => loadApp(config)))),
    ];
    conclude({ changes: done }, done.length === 0 ? "Everything is up to date." : done.join("\n"));
  },
});
