/**
 * Formats the error of a failed command: the message, its hint, and the place in the application's code. A stack is
 * printed only for unexpected errors.
 */
import { existsSync, readFileSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import { BackupError } from "../backup/error.ts";
import { ClusterError } from "../cluster/open-cluster.ts";
import { ConfigError } from "../config/load-config.ts";
import { DriftError } from "../crud/fingerprints.ts";
import { type CallSite, callSites } from "../kit/call-sites.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { MigrationError } from "../migrate/migration-error.ts";
import { fromDatabase, isConnectionLoss, lostByPooler, sqlState } from "../postgres/errors.ts";
import { describeStoreError } from "../storage/drivers/s3-refusal.ts";
import { isForeignFrame, isFrame } from "../telemetry/pretty-log.ts";
import { printError } from "./output.ts";
import { explainTakenPort } from "./taken-port.ts";

/** Errors whose message suffices without a stack. */
const explained = [BackupError, ConfigError, DefinitionError, ClusterError, MigrationError, DriftError];

/** Prints the error that ended a command. The exit code is then 1. @param cwd the application's folder */
export async function printFailure(error: unknown, cwd: string): Promise<void> {
  const { code, port, address } = error as { code?: unknown; port?: number; address?: string };
  if (port === undefined) return printError(explain(error, resolve(cwd)));
  const remedy = unusable[String(code)];
  if (code === "EADDRINUSE") printError(await explainTakenPort(port, address));
  else printError(remedy ? `${(error as Error).message}\n  ${remedy}` : explain(error, resolve(cwd)));
}

/** Why svc cannot listen, other than that the port is taken. */
const unusable: Readonly<Record<string, string>> = {
  EADDRNOTAVAIL: "SVC_HOST, or host in svc.config.ts, must be an address of this machine, or :: for all of them.",
  EACCES: "The user that runs svc may not listen on this port. Take one from 1024 on, and let a proxy listen on 443.",
};

/** @param cwd the application's folder */
export function explain(thrown: unknown, cwd: string): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const { code, name, message, stack = "" } = thrown as NodeJS.ErrnoException;
  if (thrown instanceof SyntaxError) return syntaxError(thrown, cwd);
  const place = placeIn(stack, cwd);
  if (code === "ERR_MODULE_NOT_FOUND") {
    return `${message.replaceAll(cwd + sep, "")}\n  Check the path and its ending (.ts), or install the package.`;
  }
  if (explained.some((kind) => thrown instanceof kind)) {
    return thrown instanceof DefinitionError && place ? `${place}\n${message}` : message;
  }
  if (place) {
    return [place, callersIn(stack, cwd), circleIn(place, message, cwd), otherForm(place, message, cwd)]
      .filter(Boolean)
      .join("\n");
  }
  return (
    deniedBySystem(thrown) ?? describeStoreError(thrown) ?? endedByServer(thrown) ?? (stack || `${name}: ${message}`)
  ); // errors of better-auth have an empty stack
}

/** The system refused a folder or a file. */
function deniedBySystem({ code = "", path, message }: NodeJS.ErrnoException): string | undefined {
  const remedy = path === undefined ? undefined : refusals[code];
  return remedy && `${message}\n  ${remedy}`;
}

const owner = "The user that runs svc may not do that: see the owner and the mode of the folder.";
const refusals: Readonly<Record<string, string>> = {
  EACCES: owner,
  EPERM: owner,
  EROFS: "The file system is mounted read-only.",
  ENOTSUP: "Choose a folder of another file system.",
  ENOSPC: "The disk is full: make room.",
  EDQUOT: "The quota of the user that runs svc is used up: make room.",
};

/** A statement of svc itself failed, and neither svc nor the application is wrong. */
function endedByServer(error: Error): string | undefined {
  const pooler = lostByPooler(error);
  if (pooler) return pooler.message;
  const { message } = fromDatabase(error) ?? error;
  const limit = limits[sqlState(error) ?? ""];
  if (limit) {
    return `PostgreSQL ended a statement of svc: ${message}.
  ${limit} of the server, the database or the login is too low for it. \`select setdatabase, setrole::regrole, setconfig from pg_db_role_setting\` lists those of databases and logins.`;
  }
  if (!isConnectionLoss(error)) return undefined;
  return `The connection to PostgreSQL was lost, or not opened in time: ${message.replace(/\.$/, "")}.
  The server is overloaded, restarts or cannot be reached: try again shortly.`;
}

const timeLimit = "A time limit";
const limits: Readonly<Record<string, string>> = {
  "57014": timeLimit, // statement_timeout, or a cancellation
  "55P03": timeLimit, // lock_timeout
  "25P03": timeLimit, // idle_in_transaction_session_timeout
  "25P04": timeLimit, // transaction_timeout
  "53400": "The temp_file_limit",
};

/** Where files import each other, the one that runs first has names without values. */
function circleIn(place: string, message: string, cwd: string): string {
  const [, name] = /^Cannot access '(\w+)' before initialization$/.exec(message) ?? [];
  if (name === undefined) return "";
  const from = originOf(name, place, cwd);
  if (from === undefined) return "";
  return `  ${name} comes from ${from}, which imports this file, itself or through others. Move what both need into a third file, or use it inside a function.`;
}

/** The module from which the file of a place imports a name. */
function originOf(name: string, place: string, cwd: string): string | undefined {
  const text = readFileSync(resolve(cwd, place.slice(0, place.indexOf(":"))), "utf8");
  return new RegExp(`import [^;]*\\b${name}\\b[^;]*from ["']([^"']+)["']`).exec(text)?.[1];
}

/** Calls that other backends have, and svc has not. Those of a database have a text in place of an object. */
function otherForm(place: string, message: string, cwd: string): string {
  const [, called = ""] = /^(.+) is not a function$/.exec(message) ?? [];
  const [, last] = /(?:^|\.)(query|mutation|internal)$/.exec(called) ?? [];
  if (last && place.includes(`${last}({`)) {
    return `  ${called} is built in steps: ${called}.input(v.object({ … })).handler(async ({ context, input }) => …).`;
  }
  if (/^v\.\w+$/.test(called) && originOf("v", place, cwd) === "@svc/core") {
    return "  v of svc has string, number, boolean, file, optional, array, object and any. For others take a schema of zod, valibot or arktype, also inside v.object.";
  }
  return "";
}

/** A stack with the application's frames alone, and without the first of them, which is the place. */
function callersIn(stack: string, cwd: string): string {
  let isPlace = true;
  return stack
    .split("\n")
    .filter((line) => {
      if (!isFrame(line)) return true;
      if (isForeignFrame(line) || !line.includes(cwd + sep)) return false;
      const isCaller = !isPlace;
      isPlace = false;
      return isCaller;
    })
    .join("\n");
}

/** The first line of the application's code in a stack, with its source. */
export function placeIn(stack: string, cwd: string): string | null {
  const site = callSites({ stack }).find(({ path }) => isOwn(path, cwd));
  return site ? `${relative(cwd, site.path)}:${site.line}:${site.column}\n${excerpt(site)}` : null;
}

const isOwn = (file: string, cwd: string) =>
  file.startsWith(cwd + sep) && !file.includes(`${sep}node_modules${sep}`) && existsSync(file);

function excerpt({ path, line, column }: CallSite): string {
  const text = readFileSync(path, "utf8").split("\n")[line - 1] ?? "";
  return `  ${text.slice(0, 160)}\n  ${" ".repeat(Math.max(0, Math.min(column, 160) - 1))}^`;
}

/** Node prints file, line and a caret before the message. Only its own frames follow. */
function syntaxError({ stack = "", message }: SyntaxError, cwd: string): string {
  const [head = ""] = stack.split(/\n\s+at /);
  if (!head.includes(cwd)) return message;
  const told = head.replaceAll(`file://${cwd}${sep}`, "").replaceAll(cwd + sep, "");
  return `${told.trim()}${head.includes("ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX") ? `\n  ${erasable}` : ""}`;
}

const erasable =
  "Node removes types and compiles nothing. Write an enum as an object `as const`, and a parameter property as a field; " +
  "erasableSyntaxOnly in tsconfig.json makes the editor say so.";
