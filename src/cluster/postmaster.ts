/** Reads postmaster.pid, in which a running server writes its process, its port and whether it accepts connections. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface Postmaster {
  pid: number;
  port: number;
  /** False during start-up, recovery and shutdown. */
  ready: boolean;
}

export function readPostmaster(data: string): Postmaster | null {
  try {
    // Lines: pid, data directory, start time, port, socket directory, address, shared memory key, status.
    const lines = readFileSync(join(data, "postmaster.pid"), "utf8").split("\n");
    const pid = Number(lines[0]);
    const port = Number(lines[3]);
    return pid > 0 ? { pid, port, ready: lines[7]?.trim() === "ready" } : null;
  } catch {
    return null;
  }
}

/** The command line of a process; empty if it is gone. The pid in a left-over file may belong to another process by now. */
export function commandLine(pid: number): string {
  try {
    if (process.platform === "linux") return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
    return execFileSync("ps", ["-o", "command=", "-ww", "-p", String(pid)], { encoding: "utf8" });
  } catch {
    return "";
  }
}
