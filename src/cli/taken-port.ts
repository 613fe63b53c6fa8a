/** Explains a port that is taken: by which process, and which one is free. */
import { readdir, readFile, readlink } from "node:fs/promises";
import { basename } from "node:path";
import { isFree } from "../cluster/port.ts";
import { run } from "../cluster/run.ts";
import { printable } from "./table.ts";

/** @param host the address that was asked for. (Default: all) */
export async function explainTakenPort(port: number, host?: string): Promise<string> {
  const [{ text, remedy }, free] = await Promise.all([describeTaken(port), nextFree(port, host)]);
  const other = free === undefined ? "Or take another" : `Or take the next free one: PORT=${free}`;
  return `${text}\n  ${remedy} ${other}, or port in svc.config.ts.`;
}

/** Which process has it, and how to stop that. */
export async function describeTaken(port: number): Promise<{ text: string; remedy: string }> {
  const owner = await ownerOf(port);
  return {
    text: `Port ${port} is taken${owner ? ` by ${printable(owner.name)}, process ${owner.pid}` : ""}.`,
    remedy: `Stop what listens there${owner ? ` (kill ${owner.pid})` : ""}.`,
  };
}

/** undefined when the process belongs to another user, or the system does not name it. */
const ownerOf = (port: number) =>
  (process.platform === "linux" ? fromProc(port) : fromLsof(port)).catch(() => undefined);

async function fromProc(port: number) {
  const tables = await Promise.all(
    ["tcp", "tcp6"].map((name) => readFile(`/proc/net/${name}`, "utf8").catch(() => "")),
  );
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  const sockets = tables
    .flatMap((text) => text.split("\n"))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => state === "0A" && local?.endsWith(`:${hex}`)) // 0A: listening
    .map((fields) => `socket:[${fields[9]}]`);
  if (sockets.length === 0) return undefined;
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    for (const file of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
      const target = await readlink(`/proc/${pid}/fd/${file}`).catch(() => "");
      if (sockets.includes(target)) return { pid: Number(pid), name: await nameOf(pid) };
    }
  }
  return undefined;
}

/** The program, and the script that it runs: the kernel's name of every Node process is "MainThread". */
async function nameOf(pid: string): Promise<string> {
  const [program = "", script = ""] = (await readFile(`/proc/${pid}/cmdline`, "utf8")).split("\0");
  if (program === "") return (await readFile(`/proc/${pid}/comm`, "utf8")).trim();
  return [program, ...(script === "" || script.startsWith("-") ? [] : [script])]
    .map((part) => basename(part))
    .join(" ");
}

async function fromLsof(port: number) {
  const { stdout } = await run("lsof", ["-nP", `-iTCP:${port}`, "-sTCP:LISTEN", "-Fpc"]);
  const [, pid, name] = /^p(\d+)\nc(.+)$/m.exec(stdout) ?? [];
  return pid && name ? { pid: Number(pid), name } : undefined;
}

/** Of the fifty ports after it. */
export async function nextFree(port: number, host?: string): Promise<number | undefined> {
  for (let candidate = port + 1; candidate <= Math.min(port + 50, 65_535); candidate++) {
    if (await isFree(candidate, host)) return candidate;
  }
  return undefined;
}
