// If this file fails, a deployment by the files in deploy/ or the Dockerfiles does not start, or runs with rights that
// it does not need. The tests need neither a container engine nor a running systemd.
import { execFile, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";
import { fixture, svcAll } from "../support/cli.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

const read = (file: string) => readFile(join(root, file), "utf8");
let work: string;
beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), "svc-deploy-"));
});
afterAll(() => rm(work, { recursive: true, force: true }));

/** Instructions of a Dockerfile, each on one line. */
async function instructions(file: string): Promise<[string, string][]> {
  const text = (await read(file)).replace(/^#.*\n/gm, "").replaceAll(/\\\n\s*/g, "");
  return [...text.matchAll(/^([A-Z]+) (.+)$/gm)].map(([, name = "", rest = ""]) => [name, rest]);
}

describe.each([
  ["Dockerfile", "."],
  ["examples/starter/Dockerfile", "examples/starter"],
])("%s", (file, context) => {
  const of = async (name: string) => (await instructions(file)).filter(([one]) => one === name).map(([, rest]) => rest);
  const json = async (name: string) =>
    JSON.parse((await of(name)).at(-1)?.replace(/^.*? CMD /, "") ?? "null") as string[];

  test("copies what there is, or what it builds itself", async () => {
    const sources = (await of("COPY")).flatMap((rest) => rest.split(" ").filter((one) => one.startsWith("/app/")));
    expect(sources.length).toBeGreaterThan(5);
    // npm creates the one, the build the other.
    const made = ["node_modules", "dist"];
    const missing = sources
      .map((one) => one.slice("/app/".length))
      .filter((one) => !existsSync(join(root, context, one)));
    expect(missing.filter((one) => !made.includes(one))).toEqual([]);
  });

  test("runs without root's rights, over code that it cannot change, and leaves secrets and data outside", async () => {
    const all = (await instructions(file)).map(([name]) => name);
    expect(await of("USER")).toEqual(["node"]);
    expect(all.indexOf("USER")).toBeLessThan(all.lastIndexOf("CMD"));
    expect((await of("COPY")).join("\n")).not.toContain("--chown");
    const ignored = (await read(join(context, ".dockerignore"))).split("\n");
    expect(ignored).toEqual(
      expect.arrayContaining([".git", expect.stringMatching(/\.svc$/), expect.stringMatching(/env$/)]),
    );
  });

  test("the health check tells a service that answers from one that does not", async () => {
    const [command = "", ...args] = await json("HEALTHCHECK");
    const server = createServer((request, response) =>
      response.writeHead(request.url === "/healthz" ? 200 : 500).end(),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const PORT = String((server.address() as AddressInfo).port);
    const check = () => promisify(execFile)(command, args, { env: { ...process.env, PORT } });
    await expect(check()).resolves.toBeTruthy();
    server.close();
    server.closeAllConnections();
    await expect(check()).rejects.toMatchObject({ code: 1 });
  });

  test("its command is one that svc knows", async () => {
    const [program = "", ...args] = await json("CMD");
    expect(commandFile(program === "node" ? args.slice(1) : args)).toBe("src/cli/start.ts");
    if (program === "node") expect(existsSync(join(root, args[0] ?? ""))).toBe(true);
  });
});

/** The file of a command: one file per subcommand. */
function commandFile(words: readonly string[]): string | undefined {
  const [first = "", second = ""] = words;
  return [`src/cli/${first}/${second}.ts`, `src/cli/${first}.ts`].find((file) => existsSync(join(root, file)));
}

describe("the processes", () => {
  const db = database();

  test("svc start and svc worker run in production without the administrator's login", async () => {
    const env = { NODE_ENV: "production", AUTHLIB_URL: "https://app.example.com", DATABASE_ADMIN_URL: "" };
    const commands = [
      ["worker", "--cwd", fixture],
      ["start", "--cwd", fixture],
    ];
    expect(await svcAll(db, commands, env).ended).toMatchObject([
      { code: 0, error: expect.stringContaining("Taking jobs") },
      { code: 0, error: expect.stringContaining("Ready: ") },
    ]);
  });
});

describe("deploy/compose.yaml", () => {
  test("gives each process the commands that there are, and the administrator's URL to the migration alone", async () => {
    const text = await read("deploy/compose.yaml");
    const commands = [...text.matchAll(/command: (\["node".*\])/g)].map(
      ([, list = ""]) => JSON.parse(list) as string[],
    );
    expect(commands.map(([, , command]) => command)).toEqual(["migrate", "worker", "studio"]);
    expect(commands.every(([, script = ""]) => existsSync(join(root, script)))).toBe(true);
    expect(text.match(/^ +DATABASE_ADMIN_URL:/gm)).toHaveLength(1);
    expect(text.slice(text.indexOf("\n  migrate:"), text.indexOf("\n  api:"))).toContain("DATABASE_ADMIN_URL:");
    expect(text).not.toMatch(/password: [^$]/i);
    expect(text.indexOf("DATABASE_STUDIO_URL:")).toBeGreaterThan(text.indexOf("\n  studio:"));
  });

  test("asks for the variables that deploy/make-env.sh writes, which the configuration accepts", async () => {
    await cp(join(root, "deploy/make-env.sh"), join(work, "make-env.sh"));
    const make = () => spawnSync("sh", [join(work, "make-env.sh"), "https://app.example.com"], { encoding: "utf8" });
    expect(make().status).toBe(0);
    expect((await stat(join(work, "env"))).mode & 0o777).toBe(0o600);
    const written = await readFile(join(work, "env"), "utf8");
    const env = Object.fromEntries([...written.matchAll(/^(\w+)=(.+)$/gm)].map(([, name, value]) => [name, value]));
    const asked = (await read("deploy/compose.yaml")).matchAll(/\$\{(\w+):\?/g);
    expect(Object.keys(env).sort()).toEqual([...new Set([...asked].map(([, name]) => name))].sort());
    expect(new Set(Object.values(env)).size).toBe(Object.keys(env).length);
    const config = await loadConfig({ cwd: work, env: { ...env, NODE_ENV: "production" } });
    expect(config.auth.secrets[0]).toHaveLength(64);
    // A second run would sign out all users.
    expect(make()).toMatchObject({ status: 1, stderr: expect.stringContaining("rotate-secrets.md") });
    expect(await readFile(join(work, "env"), "utf8")).toBe(written);
  });
});

const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;

describe("deploy/systemd", () => {
  test("each unit runs a command that svc knows", async () => {
    for (const unit of (await readdir(join(root, "deploy/systemd"))).filter((name) => name.endsWith(".service"))) {
      const command = /^ExecStart=.*node_modules\/\.bin\/svc ([a-z ]+)/m.exec(await read(`deploy/systemd/${unit}`));
      expect([unit, commandFile(command?.[1]?.split(" ") ?? [])]).toEqual([unit, expect.any(String)]);
    }
  });

  test("services are started again however long PostgreSQL is away", async () => {
    for (const unit of ["svc-api.service", "svc-worker@.service"]) {
      expect(await read(`deploy/systemd/${unit}`)).toMatch(/^StartLimitIntervalSec=0$.*^Restart=always$/ms);
    }
  });

  test("the backup removes what killed ones have left, and no backup that runs or is complete", async () => {
    // Each run has another name: a backup that was killed each night filled the disk.
    const unit = await read("deploy/systemd/svc-backup.service");
    const folder = join(work, "backups");
    for (const [name, hours] of [
      ["old", 30],
      ["old.incomplete", 30],
      ["new.incomplete", 1],
    ] as const) {
      await mkdir(join(folder, name, "storage"), { recursive: true });
      const at = Date.now() / 1000 - hours * 3600;
      await utimes(join(folder, name), at, at);
    }
    const command = /^ExecStartPre=(.*)/m.exec(unit)?.[1]?.replace("/var/backups/svc", folder) ?? "";
    expect(spawnSync("sh", ["-c", command], { encoding: "utf8" })).toMatchObject({ status: 0, stderr: "" });
    expect((await readdir(folder)).sort()).toEqual(["new.incomplete", "old"]);
  });

  test.skipIf(!hasSystemd)("systemd accepts the units, and finds little to take from them", async () => {
    for (const unit of await readdir(join(root, "deploy/systemd"))) {
      const path = join(root, "deploy/systemd", unit);
      const { stderr } = spawnSync("systemd-analyze", ["verify", path], { encoding: "utf8" });
      // Complaints about our own file; and the program is not installed here.
      const complaints = stderr.split("\n").filter((line) => /svc-/.test(line) && !/is not executable/.test(line));
      expect([unit, complaints]).toEqual([unit, []]);
      if (unit.endsWith(".timer")) continue;
      const rated = spawnSync("systemd-analyze", ["security", "--offline=true", "--threshold=25", path], {
        encoding: "utf8",
      });
      expect([unit, rated.status]).toEqual([unit, 0]);
    }
  });
});
