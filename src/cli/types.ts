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
    `exec nice -n 10 "$SVC_NODE" "$SVC_TSC" ${flags.join(" ")}`,
    cwd,
    { ...env, SVC_NODE: process.execPath, SVC_TSC: compiler },
    "pipe",
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

/** The program of the TypeScript that the application has installed. */
function compilerOf(cwd: string): string | undefined {
  try {
    const manifest = createRequire(join(cwd, "package.json")).resolve("typescript/package.json");
    return join(dirname(manifest), JSON.parse(readFileSync(manifest, "utf8")).bin.tsc);
  } catch {
    return undefined;
  }
}

/** @returns a function from a line that `tsc --watch` prints to the lines for the terminal */
function reportTypes(): (line: string) => string[] {
  let wrong = false;
  return (line) => {
    const [, file, at, column, text] = /^(.+)\((\d+),(\d+)\): error (.+)$/.exec(line) ?? [];
    if (file) return [`types  ${file}:${at}:${column} ${text}`];
    if (/^error /.test(line)) return [`types  ${line}`];
    if (/^\s+\S/.test(line)) return [`     ${line}`]; // the rest of a message of several lines
    const found = /Found (\d+) errors?\. Watching/.exec(line);
    if (!found) return [];
    const before = wrong;
    wrong = found[1] !== "0";
    return before && !wrong ? ["types  no errors any more"] : [];
  };
}
