/** `svc openapi`: writes the application's OpenAPI document, the same as /openapi.json. Needs no database. */
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { loadApp } from "../app/load-app.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { openApiDocument } from "../openapi/document.ts";
import { readConfig } from "./command.ts";
import { defineCommand } from "./define.ts";
import { text } from "./options.ts";
import { conclude, during } from "./output.ts";

export const command = defineCommand({
  args: { out: text("A file to write it to. (Default: standard output)") },
  run: async (args) => {
    const config = await readConfig(args.cwd);
    const app = await during("Loading the application", () => loadApp(config));
    const url = config.auth.url ?? `http://localhost:${config.port}`;
    const document = `${JSON.stringify(openApiDocument(app, config, url), null, 2)}\n`;
    if (!args.out) return void process.stdout.write(document);
    await writeFile(resolve(args.out), document).catch(({ message }: Error) => {
      throw new DefinitionError(`${args.out} cannot be written: ${message}.`, {
        hint: "--out takes the path of a file in a folder that exists.",
      });
    });
    conclude({ changes: [`wrote ${args.out}`] }, `wrote ${args.out}`);
  },
});
