/**
 * Starts processes that parse untrusted content: without environment, and with access only to the files of their
 * program.
 * Next hop: `program-files.ts`.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { programFiles } from "./program-files.ts";

export interface ConfinedOptions {
  /** Further flags of Node. (Default: none) */
  flags?: readonly string[];
  /** Arguments of the program. (Default: none) */
  args?: readonly string[];
}

/**
 * @param script the URL of the program, relative to `from` and without its extension
 * @param from `import.meta.url` of the caller
 * @param packages that the program imports
 */
export function startConfined(
  script: string,
  from: string,
  packages: readonly string[],
  { flags = [], args = [] }: ConfinedOptions = {},
): ChildProcessWithoutNullStreams {
  const path = fileURLToPath(new URL(script + (from.endsWith(".ts") ? ".ts" : ".js"), from));
  const confined = ["--permission", ...programFiles(packages), ...flags, "--no-warnings"];
  return spawn(process.execPath, [...confined, path, ...args], { env: { PATH: "" }, stdio: ["pipe", "pipe", "pipe"] });
}

/** Both are 0 if Linux does not report them, and on other systems. */
export async function usageOf(pid: number | undefined): Promise<{ processorMs: number; memoryBytes: number }> {
  if (process.platform !== "linux" || pid === undefined) return { processorMs: 0, memoryBytes: 0 };
  const [stat, statm] = await Promise.all(
    ["stat", "statm"].map((file) => readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "")),
  );
  // Reads behind the program's name, which may contain spaces. Ticks are hundredths of a second, which Linux
  // guarantees.
  const fields = (stat ?? "").slice((stat ?? "").lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
  return { processorMs: ticks * 10, memoryBytes: Number((statm ?? "").split(" ")[1] ?? 0) * 4096 };
}
