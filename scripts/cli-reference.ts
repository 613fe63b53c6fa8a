/**
 * `npm run docs:cli`: writes what every command's --help prints into docs/reference/cli.md, below its marker.
 * tests/structure/help.test.ts compares the two.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { svc } from "../src/cli/commands.ts";
import { type AnyCommand, helpOf, settle, subCommandsOf } from "../src/cli/help.ts";

export const page = join(import.meta.dirname, "../docs/reference/cli.md");
const marker = "<!-- Below: written by `npm run docs:cli`. -->";

export interface Listed {
  command: AnyCommand;
  path: string[];
  isGroup: boolean;
}

/** Every command, groups before what is in them. */
export async function allCommands(command: AnyCommand = svc, path: string[] = ["svc"]): Promise<Listed[]> {
  const subCommands = await subCommandsOf(command);
  const inside = await Promise.all(
    Object.entries(subCommands ?? {}).map(async ([name, one]) =>
      allCommands(await settle<AnyCommand>(one), [...path, name]),
    ),
  );
  return [{ command, path, isGroup: subCommands !== undefined }, ...inside.flat()];
}

/** The page as it should be. */
export async function withHelp(text: string): Promise<string> {
  const [before = ""] = text.split(marker);
  const commands = (await allCommands()).filter(({ isGroup }) => !isGroup);
  const sections = await Promise.all(
    commands.map(
      async ({ command, path }) => `### ${path.join(" ")}\n\n\`\`\`text\n${await helpOf(command, path)}\`\`\`\n`,
    ),
  );
  return `${before.trimEnd()}\n\n${marker}\n\n## What --help prints\n\n${sections.join("\n")}`;
}

if (process.argv[1] === import.meta.filename) writeFileSync(page, await withHelp(readFileSync(page, "utf8")));
