/**
 * `svc db psql --as USER`: starts psql with a user's role and identity, as session defaults that RESET restores. This
 * is not a security boundary: `\set` and SET can take another identity.
 */
import { spawn } from "node:child_process";
import { libpqTarget } from "../../cluster/libpq.ts";
import { DefinitionError } from "../../kit/definition-error.ts";
import { databaseCommand, say } from "../command.ts";
import { flag, text, words } from "../options.ts";
import { as, identify } from "./identify.ts";

export const command = databaseCommand("serving", {
  args: {
    as,
    command: text("A statement to run. (Default: interactive)", { alias: "c" }),
    file: text("A file of statements to run. (Default: none)", { alias: "f" }),
    passed: words("Arguments for psql, after --. (Default: none)"),
    write: flag("Allow changes. (Default: transactions are read-only)"),
    json: flag("The rows of the statement of --command as JSON."),
  },
  check: (args) => {
    if (args.passed.length > 0 && !process.argv.includes("--")) {
      throw new DefinitionError(`"${args.passed[0]}" is not an option.`, {
        hint: 'Write -c "select 1" to run a statement; put arguments for psql after --.',
      });
    }
    if (args.json && args.command === undefined) {
      throw new DefinitionError("--json needs a statement.", { hint: 'Write -c "select …" --json.' });
    }
  },
  run: async ({ urls }, args) => {
    const { url, settings, who } = await identify(urls, args.as, "svc db psql");
    if (!args.write) settings.default_transaction_read_only = "on";
    say(`As ${who}${args.write ? "" : ", reading only: --write allows changes"}.`);
    process.exitCode = await psql(url, settings, [
      ...["--set", `PROMPT1=${who.replaceAll("%", "%%")} %/%R%x%# `],
      ...(args.json ? ["--no-psqlrc", "--quiet", "--tuples-only", "--no-align"] : []),
      ...(args.command === undefined ? [] : ["--command", args.json ? asJson(args.command) : args.command]),
      ...(args.file === undefined ? [] : ["--file", args.file]),
      ...args.passed,
    ]);
  },
});

/** @param statement a query, or a change with RETURNING */
const asJson = (statement: string) =>
  `with svc_rows as (\n${statement.replace(/[\s;]+$/, "")}\n) select coalesce(json_agg(to_json(svc_rows)), '[]') from svc_rows`;

/** @returns psql's exit code @throws DefinitionError when there is no psql */
function psql(url: string, settings: Record<string, string>, args: readonly string[]): Promise<number> {
  const { dbname, env } = target(url, settings);
  const child = spawn("psql", ["--dbname", dbname, ...args], {
    stdio: "inherit",
    env: { ...process.env, PGAPPNAME: "svc db psql", ...env },
  });
  // Ctrl+C cancels the statement in psql; it must not end this process.
  const ignore = () => {};
  process.on("SIGINT", ignore);
  return new Promise<number>((resolve, reject) => {
    child.once("error", ({ message }) =>
      reject(
        new DefinitionError(`psql could not be started: ${message}.`, {
          hint: "It comes with PostgreSQL's client programs: apt install postgresql-client, brew install libpq.",
        }),
      ),
    );
    child.once("close", (code) => resolve(code ?? 1));
  }).finally(() => process.off("SIGINT", ignore));
}

/** The connection string with the session's settings. */
function target(url: string, settings: Record<string, string>) {
  const address = new URL(url);
  // A space or a backslash would end the option (https://www.postgresql.org/docs/17/libpq-connect.html).
  const options = Object.entries(settings).map((pair) => `-c ${pair.join("=").replaceAll(/[\\\s]/g, "\\$&")}`);
  address.searchParams.set("options", [address.searchParams.get("options"), ...options].filter(Boolean).join(" "));
  return libpqTarget(address.href);
}
