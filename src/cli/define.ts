/**
 * The declaration of a command: description, arguments and body. `parser.ts` makes commander's commands from them.
 */

interface Described {
  /** For --help. Names the default, unless there is a `default`, which is added. */
  description: string;
}

interface Positional extends Described {
  type: "positional";
  required: boolean;
  /** Whether it takes all remaining words. */
  repeatable?: boolean;
}

interface TextOption extends Described {
  type: "string";
  /** A letter: `f` for -f. */
  alias?: string;
  default?: string;
  repeatable?: boolean;
  required?: boolean;
}

interface Flag extends Described {
  type: "boolean";
  alias?: string;
  /** With `true`, --help shows `--no-NAME`, and the description is that of leaving it out. (Default: false) */
  default?: boolean;
}

export type Arguments = Readonly<Record<string, Positional | TextOption | Flag>>;

type ValueOf<A> = A extends { type: "boolean" }
  ? boolean
  : A extends { repeatable: true }
    ? string[]
    : A extends { required: true } | { default: string }
      ? string
      : string | undefined;

/** Every command has --json; the parser adds it. */
export type Values<A> = { -readonly [Key in keyof A]: ValueOf<A[Key]> } & { json: boolean };

/** A command whose file is read when it is named, or when its own --help is asked for. */
interface InFile extends Described {
  file: () => Promise<{ command: Definition }>;
}

export interface Definition {
  /** For --help. `commands.ts` has that of a command in a file of its own. */
  description?: string;
  args?: Arguments;
  // biome-ignore lint/suspicious/noExplicitAny: `defineCommand` checks it against the declared arguments
  run?: (context: { args: any }) => unknown;
  subCommands?: Readonly<Record<string, Definition | InFile>>;
  /** Headings of --help with the subcommands below them. */
  headings?: Readonly<Record<string, readonly string[]>>;
  /** The subcommand that runs when none is named. */
  default?: string;
}

/** Checks the body against the declared arguments. */
export const defineCommand = <const A extends Arguments = Record<never, never>>(
  definition: Omit<Definition, "args" | "run"> & {
    args?: A;
    run?: (context: { args: Values<A> }) => unknown;
  },
): Definition => definition;
