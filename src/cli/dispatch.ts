/**
 * Finds and runs a command.
 * Next hop: `commands.ts` lists them all, `usage.ts` reads the command line, `help.ts` prints what `--help` says.
 */
import { runCommand } from "citty";
import { svc } from "./commands.ts";
import { type AnyCommand, helpOf, settle, subCommandsOf } from "./help.ts";
import { checkArguments, findCommand, shield, UsageError } from "./usage.ts";
import { version } from "./version.ts";

/** Never rejects: errors are printed, and the exit code is 1. @param words the arguments after `svc` */
export async function dispatch(words: readonly string[]): Promise<void> {
  try {
    await follow(words);
  } catch (error) {
    // citty does not export its class for invalid arguments.
    const isUsage = error instanceof UsageError || (error as Error).name === "CLIError";
    process.stderr.write(`${isUsage ? (error as Error).message : ((error as Error).stack ?? error)}\n`);
    process.exitCode = 1;
  }
}

async function follow(given: readonly string[]): Promise<void> {
  const words = given.map(shield);
  const end = words.indexOf("--");
  const own = end < 0 ? words : words.slice(0, end);
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
