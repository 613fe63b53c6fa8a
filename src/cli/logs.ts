/**
 * `svc logs`: prints the log in readable form, filtered. The service writes JSON lines to standard output and does not
 * store them. This reads them from a pipe or a file.
 * Next hop: `log-lines.ts`; `src/telemetry/pretty-log.ts` for how a line is shown.
 */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { stripVTControlCharacters } from "node:util";
import { DefinitionError } from "../kit/definition-error.ts";
import { formatEntry } from "../telemetry/pretty-log.ts";
import { defineCommand } from "./define.ts";
import { type Filter, follow, linesOf, parseLine, wanted } from "./log-lines.ts";
import { choice, flag, moment, optionalWord, text } from "./options.ts";
import { stopSignal } from "./signal.ts";
import { printable } from "./table.ts";

const levels = ["trace", "debug", "info", "warn", "error", "fatal"];

export const command = defineCommand({
  anywhere: true,
  args: {
    file: optionalWord("A file of JSON lines. (Default: standard input)"),
    follow: flag("Also show lines that are added to the file later.", { alias: "f" }),
    level: choice(levels, `The least level to show, of ${levels.join(", ")}. (Default: all)`),
    request: text("Only lines of the request with this id. (Default: all)"),
    user: text("Only lines of the user with this id. (Default: all)"),
    operation: text("Only of a procedure, route or kind of job; tasks.* matches by prefix. (Default: all)"),
    trace: text("Only lines of the trace with this id. (Default: all)"),
    job: text("Only lines of the job with this id. (Default: all)"),
    since: moment(
      'Only lines since a time: ISO 8601, in UTC without an offset, or how long ago, such as "10 minutes". (Default: the beginning)',
    ),
    until: moment("Only lines up to a time, written the same way. (Default: the end)"),
    json: flag("As JSON lines, for programs."),
  },
  run: async ({ file, follow, json, level, request, user, operation, trace, job, since, until }) => {
    const least = level === undefined ? undefined : (levels.indexOf(level) + 1) * 10;
    const filter: Filter = { level: least, request, user, operation, trace, job, since, until };
    await show(await source(file, follow), filter, json);
  },
});

async function source(file: string | undefined, following: boolean): Promise<AsyncIterable<string>> {
  if (file === undefined || file === "-") {
    if (process.stdin.isTTY) {
      throw new DefinitionError("There is nothing to read.", {
        hint: "Pipe the log in, as in `svc start | svc logs` or `journalctl -u svc -o cat -f | svc logs`, or name a file.",
      });
    }
    return linesOf(process.stdin);
  }
  if (!(await stat(file).catch(() => null))?.isFile()) throw new DefinitionError(`There is no file ${file}.`);
  if (!following) return linesOf(createReadStream(file));
  return follow(file, stopSignal());
}

async function show(lines: AsyncIterable<string>, filter: Filter, json: boolean): Promise<void> {
  const asked = Object.values(filter).some((value) => value !== undefined);
  process.stdout.on("error", () => process.exit()); // the reader has closed the pipe, as `head` does
  for await (const line of lines) {
    const entry = parseLine(line);
    // A line that is not an entry belongs to no request, so it is shown only without filters.
    if (entry ? !wanted(entry, filter) : asked || json || line === "") continue;
    process.stdout.write(`${json ? line : paintless(entry ? formatEntry(entry) : printable(line))}\n`);
  }
}

const paintless = (text: string) =>
  process.stdout.isTTY && !process.env.NO_COLOR ? text : stripVTControlCharacters(text);
