/**
 * A process that `svc dev` keeps ready. The platform's modules are loaded, which takes most of the time of a start. It
 * runs the commands that it is sent: first `prepare`, and then `start` with the application that it has loaded by then.
 * Next hop: `prepare.ts` and `start.ts`; `dev-processes.ts` is the other end.
 */
import "../../workers/runner.ts";
import "../audit/audit.ts";
import "../auth/create-sign-in.ts";
import "../auth/sessions/jwt.ts";
import { loadConfig } from "../config/load-config.ts";
import "./prepare.ts";
import { endSoon } from "./signal.ts";
import "./start.ts";
import "../server/express-app.ts";

// What is slow the first time: checks of a configuration are compiled, and the data of time zones is loaded.
await loadConfig({ cwd: import.meta.dirname, env: {} });
new Intl.DateTimeFormat("en", { timeZone: "Europe/Berlin" });
// Compares schemas; an application without the development packages has none.
await import("@svc/dev").catch(() => {});

/** @param dispatch runs one command; it never rejects */
export function waitForWork(dispatch: (words: readonly string[]) => Promise<void>): void {
  // Without a listener, the channel keeps no process running: it ends with its last command, or with `svc dev`.
  process.once("message", async (words: string[]) => {
    await dispatch(words);
    if (words[0] === "prepare" && process.exitCode === undefined) waitForWork(dispatch);
    else endSoon();
  });
}
