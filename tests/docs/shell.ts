/** Runs the shell commands of a documentation page. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Ended, runHere } from "../support/cli.ts";
import { snippets } from "./markdown.ts";

/** npm would take a second to find what the PATH has. */
const npx = 'npx() { "$@"; }\n';

/**
 * @param svc runs a block that only has lines of `npx svc`, instead of the shell
 * @returns one function for each `sh` block of the page, which runs it in the folder and returns its output
 */
export async function commandsOf(page: string, svc?: typeof runHere) {
  const blocks = (await snippets()).filter(({ place, language }) => place.startsWith(`${page}:`) && language === "sh");
  return blocks.map(({ text }) => async (cwd: string, env: Record<string, string>) => {
    const lines = text.trim().split("\n");
    if (svc && lines.every((line) => line.startsWith("npx svc "))) {
      const ended: Ended[] = [];
      for (const line of lines) ended.push(await svc(wordsOf(line, env), env, cwd));
      const failed = ended.find(({ code }) => code !== 0);
      if (failed) throw new Error(failed.text);
      return ended.map(({ out }) => out).join("");
    }
    const { stdout } = await promisify(execFile)("sh", ["-euc", npx + text], { cwd, env: { ...process.env, ...env } });
    return stdout;
  });
}

/** The words behind `npx svc`, with the values of variables. */
const wordsOf = (line: string, env: Record<string, string>) =>
  line
    .split(" ")
    .slice(2)
    .map((word) => word.replace(/^"\$(\w+)"$/, (_, name) => env[name] ?? ""));
