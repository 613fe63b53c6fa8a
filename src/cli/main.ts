/**
 * Finds the command that is meant, and runs it.
 * Next hop: `commands.ts` lists them all, `usage.ts` reads the command line, `help.ts` prints what `--help` says.
 */
import "./fast-imports.ts";
import { runCommand } from "citty";
import { svc } from "./commands.ts";
import { type AnyCommand, helpOf, settle, subCommandsOf } from "./help.ts";
import { checkArguments, findCommand, UsageError } from "./usage.ts";
import { version } from "./version.ts";

const words = process.argv.slice(2);
const end = words.indexOf("--");
const own = end < 0 ? words : words.slice(0, end);

try {
  await main();
} catch (error) {
  // citty has a class of its own for arguments that are missing, which it does not export.
  const isUsage = error instanceof UsageError || (error as Error).name === "CLIError";
  process.stderr.write(`${isUsage ? (error as Error).message : ((error as Error).stack ?? error)}\n`);
  process.exitCode = 1;
}

async function main(): Promise<void> {
  if (own.length === 1 && ["--version", "-v"].includes(own[0] ?? "")) return print(version);
  const found = await findCommand(svc, words);
  if (own.includes("--help") || own.includes("-h")) return print(await helpOf(found.command, found.path));
  if (found.isGroup) {
    const usual = await settle<string | undefined>(found.command.default);
    if (!usual) {
      process.stderr.write(`${await helpOf(found.command, found.path)}\nSay which command.\n`);
      process.exitCode = 1;
      return;
    }
    found.command = await settle<AnyCommand>((await subCommandsOf(found.command))?.[usual]);
  }
  await checkArguments(found);
  await runCommand(found.command, { rawArgs: found.rest });
}

function print(text: string): void {
  process.stdout.write(`${text.trimEnd()}\n`);
}
