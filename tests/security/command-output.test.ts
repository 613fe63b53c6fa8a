// If this file fails, the output of a command contains a password or a key, and so may a terminal, a CI log or a bug
// report.
import { execFile } from "node:child_process";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { allCommands } from "../../scripts/cli-reference.ts";
import { examples } from "../../src/cli/manual.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

const db = database("template1");
// Inside the project, where @svc/core resolves.
const app = join(root, ".svc", `command-output-${process.pid}`);
let folder: string;

/** Secrets that must not be shown, besides the passwords in the URLs. */
const planted = {
  AUTHLIB_SECRET: "planted-secret-of-sessions-0123456789,planted-older-secret-9876543210-abc",
  GOOGLE_CLIENT_SECRET: "planted-google-secret",
  AI_API_KEY: "planted-ai-key",
  METRICS_TOKEN: "planted-metrics-token",
  AWS_SECRET_ACCESS_KEY: "planted-aws-key",
  OTEL_EXPORTER_OTLP_HEADERS: "x-api-key=planted-otel-key",
};
const plantedInFile = "planted-header-of-the-config";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-output-"));
  const starter = join(root, "examples/starter");
  await cp(starter, app, { recursive: true, filter: (path) => !/[\\/](node_modules|\.svc|dist)$/.test(path) });
  await writeFile(
    join(app, "svc.config.ts"),
    `import { defineConfig } from "@svc/core";
     export default defineConfig({ webHeaders: { "x-key": "${plantedInFile}" } });`,
  );
  await writeFile(join(folder, "report.txt"), "A report.");
});
afterAll(() => Promise.all([app, folder].map((path) => rm(path, { recursive: true, force: true }))));

/** Every command as its manual shows it, in this application. */
function everyCommand(): string[][] {
  const leaves = allCommands().filter(({ isGroup }) => !isGroup);
  return leaves.map(({ command, path }) => {
    const name = path.slice(1);
    const [line = `svc ${name.join(" ")}`] = examples[name.join(" ")]?.[0] ?? [];
    const words = (line.match(/"[^"]*"|\S+/g) ?? []).slice(1).map((word) => word.replaceAll('"', ""));
    const typed = words.slice(0, words.includes(">") ? words.indexOf(">") : undefined);
    if (name[0] === "init") return ["init", join(folder, "my-app"), "--no-install"];
    if (name[0] === "convert") return ["convert", join(folder, "report.txt")];
    const own = typed.map((word) => (word.startsWith("/backups/") ? join(folder, "backup") : word));
    return command.options.some(({ long }) => long === "--cwd") ? [...own, "--cwd", app] : own;
  });
}

async function outputOf(commands: string[][], urls: Record<string, string>): Promise<string> {
  const script = join(root, "tests/support/commands-child.ts");
  const env = {
    ...process.env,
    ...planted,
    ...urls,
    ...{ PORT: "0", LOG_LEVEL: "trace", GOOGLE_CLIENT_ID: "client", AI_BASE_URL: "http://127.0.0.1:1/v1" },
  };
  const args = [script, JSON.stringify(commands), "exit"];
  const options = { env, maxBuffer: 1e8, cwd: folder, timeout: 100_000 };
  const running = promisify(execFile)(process.execPath, args, options);
  running.child.stdin?.end(); // psql asks for more
  const { stdout, stderr } = await running.catch((error) => {
    throw new Error(`Not all commands came to their end:\n${error.stdout.slice(-2000)}${error.stderr.slice(-2000)}`);
  });
  expect(stdout).toContain("\nthe end\n");
  return stdout + stderr;
}

function expectNoSecret(output: string, urls: Record<string, string>): void {
  const secrets = [
    plantedInFile,
    ...Object.values(planted).flatMap((value) => value.replace("x-api-key=", "").split(",")),
  ];
  for (const url of Object.values(urls)) {
    const password = /:\/\/[^:]*:([^@]*)@/.exec(url)?.[1];
    if (password) secrets.push(password, decodeURIComponent(password));
  }
  expect(secrets.length).toBeGreaterThan(8);
  const shown = secrets.filter((secret) => output.includes(secret) || output.includes(encodeURIComponent(secret)));
  expect(shown.map((secret) => `${secret} in: ${output.split("\n").find((line) => line.includes(secret))}`)).toEqual(
    [],
  );
}

test("no command shows a secret when it does what it should", async () => {
  const names = { DATABASE_URL: "request", DATABASE_SYSTEM_URL: "system", DATABASE_AUTH_URL: "auth" } as const;
  const more = { DATABASE_ADMIN_URL: "admin", DATABASE_REPLICATION_URL: "replication" } as const;
  const urls = Object.fromEntries(Object.entries({ ...names, ...more }).map(([name, login]) => [name, db.url(login)]));
  // Its parts are `prepare` and `start`, as separate processes.
  const commands = everyCommand().filter(([name]) => name !== "dev");
  const first = [["migrate", "--cwd", app]];
  const output = await outputOf([...first, ...commands], urls);
  for (const words of commands) expect(output).toContain(`$ svc ${words.join(" ")}\n`);
  expect(output).toContain("Ready: http://");
  expect(output).toContain("database.url: postgres://svc_request:***@");
  expectNoSecret(output, urls);
});

test("no command shows a secret when it fails for a server that is not there", async () => {
  const url = "postgres://svc:planted-p%40ss@127.0.0.1:1/none";
  const commands = everyCommand().filter(([name]) => name !== "init" && name !== "convert");
  const output = await outputOf(commands, { DATABASE_URL: url });
  expect(output.match(/does not lead to a database/g)?.length).toBeGreaterThan(20);
  expectNoSecret(output, { DATABASE_URL: url });
});

// All commands read their configuration and open their database in the same code, so two suffice.
test.each([
  [
    "an address that is none",
    () => "postgres://svc:planted-p%40ss@127.0.0.1:notaport/none",
    "configuration is not valid",
  ],
  [
    "a password that is refused",
    () => db.url("request").replace(/:[^:@]*@/, ":planted-wrong@"),
    "authentication failed",
  ],
])("no command shows a secret when it fails for %s", async (_what, urlOf, says) => {
  const url = urlOf();
  const two = ["doctor --verbose", "migrate status"].map((name) => [...name.split(" "), "--cwd", app]);
  const output = await outputOf(two, { DATABASE_URL: url });
  expect(output.split(says)).toHaveLength(3);
  expectNoSecret(output, { DATABASE_URL: url });
});
