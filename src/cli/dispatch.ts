/**
 * Finds and runs a command.
 * Next hop: `commands.ts` lists them all; `parser.ts` reads the command line, and prints what a command throws.
 */
import { CommanderError } from "commander";
import { svc } from "./commands.ts";
import { makeCommand } from "./parser.ts";
import { version } from "./platform.ts";

/** Never rejects: errors are printed, and the exit code is 1. @param given the arguments after `svc` */
export async function dispatch(given: readonly string[]): Promise<void> {
  const words = given.map(shield);
  try {
    const program = await makeCommand(svc, words);
    program.version(version, "-v, --version", "Print the version.");
    await program.parseAsync(words, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode; // printed already
      return;
    }
    process.stderr.write(`${(error as Error).stack ?? error}\n`);
    process.exitCode = 1;
  }
}

/** SQL that begins with a line comment is not an option: a space in front keeps the parser from reading it as one. */
const shield = (word: string): string => (/^--(?![\w-]+=)[^\n]*\n/.test(word) ? ` ${word}` : word);
