/**
 * Makes commander's commands from the declarations. commander parses the command line, refuses what it does not know,
 * with a suggestion, and prints --help; examples, exit codes and docs pages come from `manual.ts`.
 */
import { Command, InvalidArgumentError, Option } from "commander";
import { byNearness } from "../kit/nearest.ts";
import type { Argument, Arguments, Definition } from "./define.ts";
import { examples, exitCodes, pageOf } from "./manual.ts";
import { flag, text } from "./options.ts";
import { output } from "./output.ts";

/** Every command has it. */
const json = flag("The result as JSON, for programs.");
const cwd = text("The application's folder. (Default: here)", { default: "." });

/**
 * A command with its subcommands. The files of those that the words do not name are not read: for --help of the whole,
 * their names and descriptions are enough.
 *
 * @param words the command line. (Default: every file is read)
 */
export async function makeCommand(
  definition: Definition,
  words?: readonly string[],
  command = new Command("svc").description(definition.description ?? ""),
  path: readonly string[] = [command.name()],
): Promise<Command> {
  const name = path.join(" ");
  command
    .helpOption("-h, --help", "Print this.")
    .helpCommand(false)
    .exitOverride()
    .enablePositionalOptions()
    .configureHelp({ helpWidth: 100 })
    .configureOutput({ outputError: (text, write) => write(`${name}: ${text.replace(/^error: /, "")}`) })
    .showHelpAfterError(`See ${name} --help.`)
    .addHelpText("after", () => afterHelp(command, path));
  const { subCommands, run } = definition;
  if (!subCommands) {
    const args = { ...(!definition.anywhere && { cwd }), ...definition.args, json: definition.args?.json ?? json };
    addArguments(command, args);
    command.action(async () => {
      const given = command.optsWithGlobals();
      // A group takes --cwd for all its commands; a few have none.
      if (given.cwd !== undefined && definition.anywhere) command.error("error: unknown option '--cwd'");
      output.json = given.json === true;
      try {
        await run?.(valuesOf(command, args));
      } catch (error) {
        const { printFailure } = await import("./explain.ts");
        await printFailure(error, given.cwd ?? ".");
      }
    });
    return command;
  }
  // It may stand before the subcommand: `svc --cwd folder migrate`.
  command.addOption(new Option("--cwd <folder>").hideHelp().argParser(readerOf("--cwd", cwd)));
  for (const [child, listed] of Object.entries(subCommands)) {
    const made = command.command(child, { isDefault: child === definition.default });
    made.description(listed.description ?? "");
    const [heading] = Object.entries(definition.headings ?? {}).find(([, names]) => names.includes(child)) ?? [];
    if (heading) made.helpGroup(`${heading}:`);
    if (words && !words.includes(child) && child !== definition.default) continue;
    await makeCommand("file" in listed ? (await listed.file()).command : listed, words, made, [...path, child]);
    if (child === definition.default) refuseWords(made, command);
  }
  return command;
}

/** Unknown words after a group reach its default command, which takes no arguments. */
function refuseWords(usual: Command, group: Command): void {
  usual.allowExcessArguments().hook("preAction", ({ args: [word] }) => {
    if (word === undefined) return;
    const [nearest] = byNearness(
      word,
      group.commands.map((one) => one.name()),
    );
    group.error(`error: unknown command '${word}'\n(Did you mean ${nearest}?)`);
  });
}

function addArguments(command: Command, args: Arguments): void {
  for (const [key, one] of Object.entries(args)) {
    if (one.kind === "word") {
      const word = one.repeatable ? `${key}...` : key;
      command.argument(one.required ? `<${word}>` : `[${word}]`, one.description, readerOf(key, one));
      continue;
    }
    const short = one.alias ? `-${one.alias}, ` : "";
    if (one.kind === "flag") {
      const [shown, hidden] = one.default ? [`--no-${key}`, `--${key}`] : [`${short}--${key}`, `--no-${key}`];
      command.addOption(new Option(shown, one.description)).addOption(new Option(hidden).hideHelp());
      continue;
    }
    const says = one.default === undefined || one.description.includes("(Default: ");
    const text = says ? one.description : `${one.description} (Default: ${one.default})`;
    const option = new Option(`${short}--${key} <${key}${one.repeatable ? "..." : ""}>`, text);
    option.makeOptionMandatory(one.required === true);
    command.addOption(option.argParser(readerOf(`--${key}`, one)));
  }
}

/** Reads a value, or one more. @param name for the error */
function readerOf(name: string, { kind, repeatable, mayBeEmpty }: Argument) {
  return (value: string, earlier: unknown): unknown => {
    // `--state --limit 3`: commander would take the next option as the value.
    const isOption = kind === "option" && /^--?[a-z]/i.test(value);
    // `--user "$NAME"` with a misspelt variable.
    const isEmpty = value === "" && !mayBeEmpty;
    if (isOption || isEmpty) throw new InvalidArgumentError(`${name} needs a value.`);
    return repeatable ? [...((earlier as string[] | undefined) ?? []), value] : value;
  };
}

/** The values by the declared names, with defaults. @throws DefinitionError */
function valuesOf(command: Command, args: Arguments): Record<string, unknown> {
  const given = command.optsWithGlobals();
  const words = [...command.processedArgs];
  return Object.fromEntries(
    Object.entries(args).map(([key, one]) => {
      const written = one.kind === "word" ? words.shift() : given[new Option(`--${key}`).attributeName()];
      const value = written ?? one.default ?? (one.kind === "flag" ? false : one.repeatable ? [] : undefined);
      return [key, one.read && typeof value === "string" ? one.read(value, key) : value];
    }),
  );
}

function afterHelp(command: Command, path: readonly string[]): string {
  if (command.commands.length > 0) return `\n${path.join(" ")} COMMAND --help tells more about one.`;
  const name = path.slice(1).join(" ");
  const helper = command.createHelp();
  helper.helpWidth = 100;
  const section = (title: string, rows: readonly (readonly [string, string])[]) => {
    const width = Math.min(34, Math.max(0, ...rows.map(([term]) => term.length)));
    const lines = rows.map(([term, text]) =>
      term.length > width ? `  ${term}\n${" ".repeat(width + 4)}${text}` : helper.formatItem(term, width, text, helper),
    );
    return `\n${title}:\n${lines.join("\n")}\n`;
  };
  const codes = Object.entries({ 0: "Done.", 1: "An error, explained.", ...exitCodes[name] });
  return `${section("Examples", examples[name] ?? [])}${section("Exit codes", codes)}\nRead on: @svc/core/docs/${pageOf(name)}`;
}

/** What --help prints. */
export function helpOf(command: Command): string {
  let text = "";
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
  });
  command.outputHelp();
  return text;
}
