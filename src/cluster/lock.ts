/**
 * Identifies processes even when a pid is reused, and provides lock files that end with their holder. `private.ts`
 * holds one lock per cluster, `binaries.ts` one per provisioned tree.
 */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** A process, distinguished from a later one with the same pid. */
export interface Holder {
  pid: number;
  born: string;
}

/** When a living process started; null if there is none. A zombie counts as dead, since it holds nothing. */
export function bornAt(pid: number): string | null {
  if (process.platform === "linux") {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      // The command may contain blanks and parentheses, so count from the last one: state is field 3, start time field 22.
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return fields[0] === "Z" || fields[0] === "X" ? null : (fields[19] ?? null);
    } catch {
      return null;
    }
  }
  try {
    const line = execFileSync("ps", ["-o", "stat=,lstart=", "-p", String(pid)], { encoding: "utf8" }).trim();
    const [state = "Z", ...date] = line.split(/\s+/);
    return state.startsWith("Z") ? null : date.join(" ");
  } catch {
    return null;
  }
}

export const myself = (): Holder => ({ pid: process.pid, born: bornAt(process.pid) ?? "" });

export const isAlive = (holder: Holder): boolean => bornAt(holder.pid) === holder.born;

/**
 * Runs `work` while no other process does so under the same path.
 *
 * @param path   the lock file; its directory exists
 * @param waiting called once, with the holder's pid, when the lock is taken
 */
export async function withLock<T>(path: string, work: () => Promise<T>, waiting?: (pid: number) => void): Promise<T> {
  const token = randomBytes(8).toString("hex");
  const draft = `${path}.${token}`;
  // Written to a draft and linked into place, so that a lock file always names its holder.
  writeFileSync(draft, JSON.stringify({ ...myself(), token }), { mode: 0o600 });
  try {
    for (let told = false; !claim(draft, path); await sleep(25)) {
      const holder = readHolder(path);
      if (holder === null) continue;
      if (isAlive(holder)) {
        if (!told) waiting?.(holder.pid);
        told = true;
      } else breakLock(path);
    }
  } finally {
    rmSync(draft, { force: true });
  }
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

function claim(draft: string, path: string): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function readHolder(path: string): Holder | null {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Holder;
  } catch {
    return null;
  }
}

/**
 * Removes a dead holder's lock. Two processes may do this at once, and the slower one must not remove the lock that the
 * faster has just taken. So breaking needs its own lock, and checks again first.
 */
function breakLock(path: string): void {
  const guard = `${path}.break`;
  try {
    writeFileSync(guard, "", { flag: "wx" });
  } catch {
    // This lock is held for microseconds. An old one belongs to a process that died in between.
    if (ageOf(guard) > 10_000) rmSync(guard, { force: true });
    return;
  }
  try {
    const holder = readHolder(path);
    if (holder && !isAlive(holder)) rmSync(path, { force: true });
  } finally {
    rmSync(guard, { force: true });
  }
}

function ageOf(path: string): number {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}
