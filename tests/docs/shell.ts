/** Runs the shell commands of a documentation page. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { snippets } from "./markdown.ts";

/** npm would take a second to find what the PATH has. */
const npx = 'npx() { "$@"; }\n';

/** @returns one function for each `sh` block of the page, which runs it in the folder and returns its output */
export async function commandsOf(page: string) {
  const blocks = (await snippets()).filter(({ place, language }) => place.startsWith(`${page}:`) && language === "sh");
  return blocks.map(({ text }) => async (cwd: string, env: Record<string, string>) => {
    const { stdout } = await promisify(execFile)("sh", ["-euc", npx + text], { cwd, env: { ...process.env, ...env } });
    return stdout;
  });
}
