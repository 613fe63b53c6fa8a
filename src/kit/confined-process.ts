/**
 * Starts processes that parse untrusted content: without environment, and with access only to the files of their program.
 * Next hop: `program-files.ts`.
 */
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { setPriority } from "node:os";
import { forgetProgramFiles, programFiles } from "./program-files.ts";

/**
 * @param program its path
 * @param packages that it imports
 * @param flags further ones of Node
 * @param args the program's (Default: none)
 */
export function startConfined(
  program: string,
  packages: readonly string[],
  flags: readonly string[],
  args: readonly string[] = [],
): ChildProcessWithoutNullStreams {
  const confined = ["--permission", ...programFiles(packages), ...flags, "--no-warnings"];
  const child = spawn(process.execPath, [...confined, program, ...args], {
    env: { PATH: "" },
    stdio: ["pipe", "pipe", "pipe"],
  });
  return child.once("close", (code) => {
    if (code) forgetProgramFiles();
  });
}

/** Of a process whose work takes long: requests go first. */
export function lowerPriority({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, 5);
  } catch {
    // The process has ended already, or the system does not support priorities.
  }
}

/** Both are 0 if Linux does not report them, and on other systems. */
export async function usageOf(pid: number | undefined): Promise<{ processorMs: number; memoryBytes: number }> {
  if (process.platform !== "linux" || pid === undefined) return { processorMs: 0, memoryBytes: 0 };
  const [stat = "", status = ""] = await Promise.all(
    ["stat", "status"].map((file) => readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "")),
  );
  // Reads behind the program's name, which may contain spaces. Ticks are hundredths of a second, which Linux guarantees.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
  return { processorMs: ticks * 10, memoryBytes: Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) * 1024 };
}
