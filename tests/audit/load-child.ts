/** Loads the applications in the given folders, and prints the message of each refusal as JSON. */
import { loadApp } from "../../src/app/load-app.ts";
import { loadConfig } from "../../src/config/load-config.ts";

const messages: Record<string, string> = {};
for (const cwd of process.argv.slice(2)) {
  messages[cwd] = await loadConfig({ cwd, env: {} })
    .then(loadApp)
    .then(
      () => "",
      (error) => (error.name === "DefinitionError" ? error.message : String(error.stack)),
    );
}
process.stdout.write(JSON.stringify(messages), () => process.exit());
