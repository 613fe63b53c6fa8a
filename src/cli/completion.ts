/** `svc completion`: prints a script that completes commands and options in a shell. */
import type { Command } from "commander";
import { type Definition, defineCommand } from "./define.ts";
import { print } from "./output.ts";

interface Completed {
  /** The command's words, such as "svc db lint". */
  path: string;
  /** Its subcommands and options, with their descriptions. */
  words: [word: string, description: string][];
}

/** Every command, from the same declarations as --help. */
async function commands(svc: Definition): Promise<Completed[]> {
  const { makeCommand } = await import("./parser.ts");
  const walk = (command: Command, path: string): Completed[] => [
    {
      path,
      words: [
        ...command.commands.map((one): [string, string] => [one.name(), one.description()]),
        ...command.options
          .filter(({ long, hidden }) => long && !hidden)
          .map(({ long, description }): [string, string] => [long as string, description]),
        ["--help", "Print the command's help."],
      ],
    },
    ...command.commands.flatMap((one) => walk(one, `${path} ${one.name()}`)),
  ];
  return walk(await makeCommand(svc), "svc");
}

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** Zsh runs it too, with its emulation of bash's completion. */
const bash = (all: readonly Completed[]) => `_svc() {
  local path=svc word words=
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in
      ${all.map(({ path }) => quote(path)).join(" | ")}) path="$path $word" ;;
    esac
  done
  case "$path" in
${all.map(({ path, words }) => `    ${quote(path)}) words=${quote(words.map(([word]) => word).join(" "))} ;;`).join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _svc svc
`;

const zsh = (all: readonly Completed[]) => `autoload -Uz +X compinit bashcompinit
(( $+functions[compdef] )) || compinit
bashcompinit
${bash(all)}`;

const fishQuote = (text: string) => `'${text.replaceAll(/['\\]/g, "\\$&")}'`;

const fish = (all: readonly Completed[]) => `function __svc_path
  set -l path svc
  for word in (commandline -opc)[2..-1]
    if contains -- "$path $word" ${all.map(({ path }) => quote(path)).join(" ")}
      set path "$path $word"
    end
  end
  echo $path
end
${all
  .flatMap(({ path, words }) =>
    words.map(([word, description]) => {
      const what = word.startsWith("--") ? `-l ${word.slice(2)}` : `-f -a ${word}`;
      return `complete -c svc -n "test (__svc_path) = ${quote(path)}" ${what} -d ${fishQuote(description)}`;
    }),
  )
  .join("\n")}
`;

const command = (svc: Definition, name: string, write: (all: readonly Completed[]) => string) =>
  defineCommand({
    description: `Print the completion script for ${name}.`,
    anywhere: true,
    run: async () => {
      const script = write(await commands(svc));
      print({ shell: name, script }, () => script);
    },
  });

/** @param svc the root command; importing it here would be a circle */
export const makeCompletion = (svc: Definition) =>
  defineCommand({
    description: "Complete svc's commands and options in your shell.",
    subCommands: { bash: command(svc, "bash", bash), zsh: command(svc, "zsh", zsh), fish: command(svc, "fish", fish) },
  });
