/**
 * Parses the command line into a command and its arguments. citty ignores unknown options; here they are refused, with
 * a suggestion.
 */
import type { ArgDef, ArgsDef } from "citty";
import { byNearness } from "../kit/nearest.ts";
import { type AnyCommand, argumentsOf, isRequired, settle, subCommandsOf } from "./help.ts";

/** An invalid command line. The message says what to write instead. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export interface Found {
  command: AnyCommand;
  /** Its words, such as ["svc", "db", "lint"]. */
  path: string[];
  /** The remaining arguments. */
  rest: string[];
  /** Whether a subcommand's name is missing or unknown. */
  isGroup: boolean;
}

/** SQL that begins with a line comment is not an option: a space in front keeps parsers from reading it as one. */
export const shield = (word: string): string => (/^--(?![\w-]+=)[^\n]*\n/.test(word) ? ` ${word}` : word);

/**
 * Finds the command that the words name. Options may stand before its name: `svc migrate --cwd folder status`.
 *
 * @throws UsageError for an unknown command
 */
export async function findCommand(root: AnyCommand, rawArgs: readonly string[]): Promise<Found> {
  const found: Found = { command: root, path: ["svc"], rest: [...rawArgs], isGroup: false };
  for (;;) {
    const subCommands = await subCommandsOf(found.command);
    if (!subCommands) return { ...found, isGroup: false };
    const index = firstWord(found.rest);
    const name = found.rest[index];
    if (name === undefined) return { ...found, isGroup: true };
    if (!Object.hasOwn(subCommands, name)) throw unknownCommand(found.path, name, Object.keys(subCommands));
    found.command = await settle<AnyCommand>(subCommands[name]);
    found.path.push(name);
    found.rest.splice(index, 1);
  }
}

/** The only option that takes a value and may stand before a command's name is --cwd. */
function firstWord(words: readonly string[]): number {
  const index = words.findIndex((word, at) => !word.startsWith("-") && words[at - 1] !== "--cwd");
  const end = words.indexOf("--");
  return end >= 0 && index > end ? -1 : index;
}

/** @throws UsageError for an unknown option, and for a missing argument */
export async function checkArguments({ command, path, rest }: Found): Promise<void> {
  const known = await argumentsOf(command);
  const name = path.join(" ");
  const positional = Object.entries(known).filter(([, { type }]) => type === "positional");
  // A command without its own arguments passes everything after -- to a program.
  let words = rest.includes("--") && positional.length > 0 ? rest.length - rest.indexOf("--") - 1 : 0;
  for (let index = 0; index < rest.length; index++) {
    const word = rest[index] ?? "";
    if (word === "--") break;
    if (!word.startsWith("-") || word === "-") {
      words++;
      continue;
    }
    const [given = "", value] = word.replace(/^--?/, "").split("=", 2);
    const option = optionOf(known, given);
    if (!option) throw unknownOption(name, word.split("=", 1)[0] ?? word, known);
    if (option.type === "boolean" || value !== undefined) continue;
    const next = rest[index + 1];
    // A value may be a negative number; anything else with a dash is an option.
    if (next === undefined || /^--?[a-z]/i.test(next)) {
      throw new UsageError(`${word} needs a value.\n  Write ${word} VALUE, or see ${name} --help.`);
    }
    index++;
    // `--drop a b`: a repeatable option takes all following values.
    if (isRepeatable(option)) while (index + 1 < rest.length && !rest[index + 1]?.startsWith("-")) index++;
  }
  const missing = positional.slice(words).find(([, one]) => isRequired(one));
  if (missing) {
    const all = positional.map(([key]) => key.toUpperCase()).join(" ");
    throw new UsageError(`${name} needs ${missing[0].toUpperCase()}.\n  Write ${name} ${all}, or see ${name} --help.`);
  }
  const takes = positional.length;
  if (words <= takes) return;
  const most = takes === 0 ? "no arguments" : takes === 1 ? "one argument" : `${takes} arguments`;
  throw new UsageError(`${name} takes ${most} beside its options.\n  See ${name} --help.`);
}

function optionOf(known: ArgsDef, given: string): ArgDef | undefined {
  for (const [key, one] of Object.entries(known)) {
    if (one.type === "positional") continue;
    const aliases = "alias" in one && one.alias ? [one.alias].flat() : [];
    if (key === given || (aliases as string[]).includes(given)) return one;
    if (one.type === "boolean" && given === `no-${key}`) return one;
  }
  return undefined;
}

const isRepeatable = ({ description = "" }: ArgDef): boolean => description.includes("may be repeated");

function unknownCommand(path: readonly string[], name: string, known: readonly string[]): UsageError {
  const group = path.join(" ");
  const [nearest] = byNearness(name, known);
  return new UsageError(
    `There is no command "${group} ${name}".\n  Did you mean "${group} ${nearest}"? ${group} --help lists them all.`,
  );
}

function unknownOption(name: string, option: string, known: ArgsDef): UsageError {
  const options = Object.entries(known).flatMap(([key, one]) =>
    one.type === "positional" ? [] : [one.type === "boolean" && one.default === true ? `--no-${key}` : `--${key}`],
  );
  const [nearest] = byNearness(option, [...options, "--help"]);
  return new UsageError(`${name} has no option ${option}.\n  Did you mean ${nearest}? See ${name} --help.`);
}
