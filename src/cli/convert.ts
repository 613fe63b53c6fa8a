/** `svc convert`: prints a document as Markdown, with local providers only. Next hop: `src/documents/convert.ts`. */
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { convertDocument } from "../documents/convert.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { SvcError } from "../kit/svc-error.ts";
import { say } from "./command.ts";
import { defineCommand } from "./define.ts";
import { flag, word } from "./options.ts";
import { during, print, printError } from "./output.ts";

export const command = defineCommand({
  anywhere: true,
  args: { file: word("The document."), json: flag("Print the whole result as JSON. (Default: Markdown alone)") },
  run: async (args) => {
    try {
      const bytes = await read(args.file);
      const result = await during("Converting", () => convertDocument(bytes, { filename: basename(args.file) }));
      print(result, () => `${result.markdown}\n`);
      for (const warning of result.warnings) say(warning);
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      printError([error.message, error.hint && `  ${error.hint}`].filter(Boolean).join("\n"));
    }
  },
});

async function read(file: string): Promise<Buffer> {
  return readFile(file).catch((error) => {
    throw new DefinitionError(`${file} cannot be read: ${error.message}.`);
  });
}
