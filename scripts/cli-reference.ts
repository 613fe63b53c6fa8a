/**
 * `npm run docs:cli`: writes what every command's --help prints into docs/reference/cli.md, below its marker.
 * tests/structure/help.test.ts compares the two.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { svc } from "../src/cli/commands.ts";
import { helpOf, makeCommand } from "../src/cli/parser.ts";

export const page = join(import.meta.dirname, "../docs/reference/cli.md");
const marker = "<!-- Below: written by `npm run docs:cli`. -->";

export interface Listed {
  command: Command;
  path: string[];
  isGroup: boolean;
}

const program = await makeCommand(svc);

/** Every command, groups before what is in them. */
export function allCommands(command: Command = program, path: string[] = ["svc"]): Listed[] {
  const inside = command.commands.flatMap((one) => allCommands(one, [...path, one.name()]));
  return [{ command, path, isGroup: inside.length > 0 }, ...inside];
}

/** The page as it should be. */
export function withHelp(text: string): string {
  const [before = ""] = text.split(marker);
  const commands = allCommands().filter(({ isGroup }) => !isGroup);
  const sections = commands.map(
    ({ command, path }) => `### ${path.join(" ")}\n\n\`\`\`text\n${helpOf(command)}\`\`\`\n`,
  );
  return `${before.trimEnd()}\n\n${marker}\n\n## What --help prints\n\n${sections.join("\n")}`;
}

if (process.argv[1] === import.meta.filename) writeFileSync(page, withHelp(readFileSync(page, "utf8")));
