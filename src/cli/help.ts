/**
 * Prints `--help`. Description, arguments and options come from the command's definition; examples, exit codes and the
 * docs page from `manual.ts`. docs/reference/cli.md has the same text (scripts/cli-reference.ts).
 */
import type { ArgDef, ArgsDef, CommandDef } from "citty";
import { manual } from "./manual.ts";

// biome-ignore lint/suspicious/noExplicitAny: commands of all kinds of arguments
export type AnyCommand = CommandDef<any>;

/** citty takes most parts of a command as values, promises, or functions of either. */
export async function settle<T>(part: unknown): Promise<T> {
  return (await (typeof part === "function" ? part() : part)) as T;
}

export const argumentsOf = (command: AnyCommand): Promise<ArgsDef> => settle<ArgsDef>(command.args ?? {});
export const subCommandsOf = (command: AnyCommand): Promise<Record<string, unknown> | undefined> =>
  settle<Record<string, unknown> | undefined>(command.subCommands);

/** @param path the command's words, such as ["svc", "db", "lint"] */
export async function helpOf(command: AnyCommand, path: readonly string[]): Promise<string> {
  const name = path.join(" ");
  const args = Object.entries(await argumentsOf(command));
  const positional = args.filter(([, one]) => one.type === "positional");
  const options = args.filter(([, one]) => one.type !== "positional");
  const subCommands = await subCommandsOf(command);
  const { examples = [], exitCodes, page } = manual[path.slice(1).join(" ")] ?? {};

  const words = positional.map(([key, one]) => (isRequired(one) ? `${upper(key)} ` : `[${upper(key)}] `)).join("");
  const usage = subCommands ? `${name} COMMAND [OPTIONS]` : `${name} ${words}[OPTIONS]`;
  const sections = [
    `${(await describe(command)) ?? ""}\n\nUsage: ${usage}`,
    section("Commands", await Promise.all(Object.entries(subCommands ?? {}).map(subCommandLine))),
    section(
      "Arguments",
      positional.map(([key, one]) => [upper(key), one.description ?? ""]),
    ),
    section("Options", [...options.map(optionLine), ["--help", "Print this."]]),
    section("Examples", examples),
    subCommands ? "" : section("Exit codes", Object.entries({ 0: "Done.", 1: "An error, explained.", ...exitCodes })),
    subCommands ? `${name} COMMAND --help tells more about one.` : "",
    page ? `Read on: @svc/core/docs/${page}` : "",
  ];
  return `${sections.filter(Boolean).join("\n\n")}\n`;
}

export async function describe(command: AnyCommand): Promise<string | undefined> {
  return (await settle<{ description?: string } | undefined>(command.meta))?.description;
}

async function subCommandLine([name, command]: [string, unknown]): Promise<[string, string]> {
  return [name, (await describe(await settle<AnyCommand>(command))) ?? ""];
}

function optionLine([key, one]: [string, ArgDef]): [string, string] {
  const { description = "" } = one;
  const short = "alias" in one && one.alias ? `-${[one.alias].flat()[0]}, ` : "";
  if (one.type === "boolean") {
    return one.default === true ? [`--no-${key}`, one.negativeDescription ?? ""] : [`${short}--${key}`, description];
  }
  const hint = "valueHint" in one && one.valueHint ? one.valueHint : upper(key);
  const says = one.default === undefined || description.includes("(Default: ");
  return [`${short}--${key} ${hint}`, says ? description : `${description} (Default: ${one.default})`];
}

/** Two columns; the second is wrapped to 100 characters in all, unless the first leaves no room. */
function section(title: string, rows: readonly (readonly [string, string])[]): string {
  if (rows.length === 0) return "";
  const width = Math.min(34, Math.max(...rows.map(([left]) => left.length)));
  const lines = rows.flatMap(([left, right]) => {
    const [first = "", ...others] = wrap(right, 100 - width - 4);
    const head =
      left.length > width ? [`  ${left}`, `  ${" ".repeat(width)}  ${first}`] : [`  ${left.padEnd(width)}  ${first}`];
    return [...head, ...others.map((line) => `  ${" ".repeat(width)}  ${line}`)].map((line) => line.trimEnd());
  });
  return `${title}:\n${lines.join("\n")}`;
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

export const isRequired = (one: ArgDef): boolean => one.required !== false && one.default === undefined;

const upper = (key: string) => key.toUpperCase().replaceAll("-", "_");
