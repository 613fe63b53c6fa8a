/**
 * Checks the application's types beside `svc dev`, where it has TypeScript and a tsconfig.json: the compiler watches
 * the files in a process of low priority, so that it holds up no reload.
 * Next hop: `beside.ts`.
 */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { endBeside, startBeside } from "./beside.ts";
import { say } from "./output.ts";

/** @returns a function that ends it */
export function checkTypesBeside(cwd: string, env: NodeJS.ProcessEnv): () => void {
  const compiler = existsSync(join(cwd, "tsconfig.json")) ? compilerOf(cwd) : undefined;
  if (!compiler) return () => {};
  const child = startBeside(
    `exec nice -n 10 "$SVC_NODE" "$SVC_TSC" ${[...flags, ...compiler.flags].join(" ")}`,
    cwd,
    { ...env, SVC_NODE: process.execPath, SVC_TSC: compiler.program },
    // On SIGTERM it would end its check first, which takes seconds.
    { out: "pipe", signal: "KILL" },
  );
  const told = reportTypes();
  if (child.stdout) createInterface({ input: child.stdout }).on("line", (line) => told(line).forEach(say));
  return () => endBeside(child);
}

/** The compiler keeps its results for the next start. */
const flags = [
  ...["--noEmit", "--watch", "--preserveWatchOutput", "--pretty", "false"],
  ...["--incremental", "--tsBuildInfoFile", ".svc/types.tsbuildinfo"],
];

/**
 * From version 7 on TypeScript checks in four threads. Each of them works out the types of all tables and procedures for
 * itself: with 300 tables that took five times the processor time and four times the memory of one thread.
 */
const oneThread = ["--checkers", "1"];

/** The TypeScript that the application has installed: its program, and flags that its version knows. */
function compilerOf(cwd: string): { program: string; flags: string[] } | undefined {
  try {
    const manifest = createRequire(join(cwd, "package.json")).resolve("typescript/package.json");
    const { bin, version } = JSON.parse(readFileSync(manifest, "utf8"));
    return { program: join(dirname(manifest), bin.tsc), flags: Number.parseInt(version, 10) >= 7 ? oneThread : [] };
  } catch {
    return undefined;
  }
}

/** As many errors of one check are shown: after a change of the schema, most are the same one in other places. */
const shown = 10;

/** @returns a function from a line that `tsc --watch` prints to the lines for the terminal, at the end of each check */
function reportTypes(): (line: string) => string[] {
  let errors: string[] = [];
  let before: string[] = [];
  return (line) => {
    const [, file, at, column, text] = /^(.+)\((\d+),(\d+)\): error (.+)$/.exec(line) ?? [];
    if (file) errors.push(`types  ${file}:${at}:${column} ${text}`);
    else if (/^error /.test(line)) errors.push(`types  ${line}`);
    // The rest of a message of several lines.
    else if (/^\s+\S/.test(line) && errors.length > 0) errors.push(`${errors.pop()}\n     ${line}`);
    if (!/Found \d+ errors?\. Watching/.test(line)) return [];
    const [last, found] = [before, errors];
    [before, errors] = [found, []];
    if (last.join() === found.join()) return [];
    if (found.length === 0) return ["types  no errors any more"];
    const more = found.length - shown;
    return [...found.slice(0, shown), ...(more > 0 ? [`types  and ${more} more; npx tsc --noEmit shows all`] : [])];
  };
}
