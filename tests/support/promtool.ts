import { spawnSync } from "node:child_process";

/** Runs Prometheus' own checker. */
export const promtool = (args: string[], input?: string) => spawnSync("promtool", args, { encoding: "utf8", input });
/** Says in a test's name why it is skipped. Empty where it is installed (Debian: apt install prometheus). */
export const noPromtool = promtool(["--version"]).status === 0 ? "" : " [skipped: no promtool]";
