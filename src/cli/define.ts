/**
 * The declaration of a command: description, arguments and body. `parser.ts` makes commander's commands from them.
 * Next hop: `options.ts` declares what commands take.
 */

/** A word, an option or a flag of the command line. @template Value what its text becomes */
export interface Argument<Value = unknown> {
  kind: "word" | "option" | "flag";
  /** For --help. Names the default, unless there is a `default`, which is added. */
  description: string;
  /** A letter: `f` for -f. */
  alias?: string;
  /** Of a flag `true`: --help shows `--no-NAME`, and the description is that of leaving it out. */
  default?: string | boolean;
  required?: boolean;
  /** Whether an option may stand several times, and a word takes all remaining words. */
  repeatable?: boolean;
  /** Whether the empty text is a value. */
  mayBeEmpty?: boolean;
  /** (Default: the text itself) @throws DefinitionError for a text that is no such value */
  read?: (text: string, name: string) => Value;
}

export type Arguments = Readonly<Record<string, Argument>>;

/** Every command has --json, and those that need an application --cwd; the parser adds them. */
export type Values<A> = { -readonly [Key in keyof A]: A[Key] extends Argument<infer Value> ? Value : never } & {
  cwd: string;
  json: boolean;
};

/** A command whose file is read when it is named, or when its own --help is asked for. */
type InFile = ReturnType<typeof later>;

export const later = (description: string, file: () => Promise<{ command: Definition }>) => ({ description, file });

export interface Definition {
  /** For --help. `commands.ts` has that of a command in a file of its own. */
  description?: string;
  args?: Arguments;
  /** Whether it needs no application: it has no --cwd. */
  anywhere?: true;
  // biome-ignore lint/suspicious/noExplicitAny: `defineCommand` checks it against the declared arguments
  run?: (args: any) => unknown;
  subCommands?: Readonly<Record<string, Definition | InFile>>;
  /** Headings of --help with the subcommands below them. */
  headings?: Readonly<Record<string, readonly string[]>>;
  /** The subcommand that runs when none is named. */
  default?: string;
}

/** Checks the body against the declared arguments. */
export const defineCommand = <A extends Arguments = Record<never, never>>(
  definition: Omit<Definition, "args" | "run"> & { args?: A; run?: (args: Values<A>) => unknown },
): Definition => definition;
