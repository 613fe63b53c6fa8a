/**
 * Runs a PgBouncer with the settings of deploy/pgbouncer.ini, in front of servers that may change while it runs. Used by
 * `npm run rehearse:scale` and by tests/postgres/pooler.test.ts.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { serverUser } from "../../src/cluster/places.ts";
import { freePort } from "../../src/cluster/port.ts";

const settings = resolve(import.meta.dirname, "../../deploy/pgbouncer.ini");

/** From which version on statements prepared by name go through, and from which the log does too, in session mode. */
export const olderMisses = { statements: [1, 21], log: [1, 23] } as const;

/** Where scripts/build-pgbouncer puts one. */
const built = resolve(import.meta.dirname, "../../.svc/pgbouncer/pgbouncer-1.24.1");

/**
 * The program: SVC_PGBOUNCER, the one that scripts/build-pgbouncer has built, or the one on the PATH.
 *
 * @param oldest the first version that would do. (Default: the one that lets prepared statements through)
 * @returns its path, or why there is none that would do
 */
export function findBouncer(
  oldest: readonly [number, number] = olderMisses.statements,
  env = process.env,
): { program: string; version: string } | { problem: string } {
  const program = env.SVC_PGBOUNCER || (existsSync(built) ? built : "pgbouncer");
  let said: string;
  try {
    said = execFileSync(program, ["--version"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  } catch {
    return { problem: "no pgbouncer on the PATH, nor in SVC_PGBOUNCER; scripts/build-pgbouncer makes one" };
  }
  const [, version = "", major, minor] = /PgBouncer ((\d+)\.(\d+)\S*)/.exec(said) ?? [];
  const isOld = Number(major) < oldest[0] || (Number(major) === oldest[0] && Number(minor) < oldest[1]);
  return isOld
    ? { problem: `PgBouncer ${version} is older than ${oldest.join(".")}; scripts/build-pgbouncer makes one` }
    : { program, version };
}

export interface BouncerOptions {
  program: string;
  /** Where PostgreSQL is. */
  server: { host: string; port: number };
  /** Passwords by login. */
  passwords: Readonly<Record<string, string>>;
  /** By name: what it is called on the server, and how its connections are shared. */
  databases: Readonly<Record<string, { name: string; mode: "transaction" | "session" }>>;
  /** Over those of the file. */
  settings?: Readonly<Record<string, string | number>>;
  /** To start again where another one was. (Default: a free one) */
  port?: number;
}

export class Bouncer {
  readonly #options: BouncerOptions;
  readonly #directory: string;
  readonly port: number;
  #child: ChildProcess | undefined;

  private constructor(options: BouncerOptions, directory: string, port: number) {
    this.#options = options;
    this.#directory = directory;
    this.port = port;
  }

  static async start(options: BouncerOptions): Promise<Bouncer> {
    const directory = mkdtempSync(join(tmpdir(), "svc-pgbouncer-"));
    const user = await serverUser(""); // it refuses root, as PostgreSQL does
    if (user) chownSync(directory, user.uid, user.gid);
    const bouncer = new Bouncer(options, directory, options.port ?? (await freePort()));
    const users = Object.entries(options.passwords).map(([login, password]) => `"${login}" "${password}"\n`);
    bouncer.#write("userlist.txt", users.join(""), user);
    bouncer.#write("pgbouncer.ini", bouncer.#ini(options.server), user);
    const child = spawn(options.program, ["-q", join(directory, "pgbouncer.ini")], {
      cwd: "/",
      stdio: "ignore",
      ...(user && { uid: user.uid, gid: user.gid }),
    });
    bouncer.#child = child;
    while (!(await answers(bouncer.port))) {
      if (child.exitCode !== null) throw new Error(`PgBouncer did not start:\n${bouncer.log()}`);
      await sleep(20);
    }
    return bouncer;
  }

  /** From now on the server is another one. What still runs on the old one is left to end. */
  async repoint(server: { host: string; port: number }): Promise<void> {
    this.#write("pgbouncer.ini", this.#ini(server), await serverUser(""));
    this.#child?.kill("SIGHUP");
  }

  log(): string {
    return readFileSync(join(this.#directory, "log"), "utf8");
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (child && child.exitCode === null && child.signalCode === null) {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGQUIT");
      await ended;
    }
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /** The file as it is delivered, with what is different here. A second section of a name would reset the first one. */
  #ini({ host, port }: { host: string; port: number }): string {
    const { databases, settings: others = {} } = this.#options;
    const lines = Object.entries(databases).map(
      ([key, { name, mode }]) =>
        `${key} = host=${host} port=${port} dbname=${name} ${mode === "session" ? "pool_mode=session pool_size=50" : ""}`,
    );
    const here = {
      listen_addr: "127.0.0.1",
      listen_port: this.port,
      auth_file: join(this.#directory, "userlist.txt"),
      logfile: join(this.#directory, "log"),
      unix_socket_dir: "",
      ...others,
    };
    const [, , delivered = ""] = readFileSync(settings, "utf8").split(/^\[(?:databases|pgbouncer)\]$/m);
    const kept = delivered.split("\n").filter((line) => !Object.keys(here).some((key) => line.startsWith(`${key} =`)));
    const own = Object.entries(here).map(([key, value]) => `${key} = ${value}`);
    return ["[databases]", ...lines, "[pgbouncer]", ...kept, ...own, ""].join("\n");
  }

  #write(name: string, text: string, user: { uid: number; gid: number } | null): void {
    const path = join(this.#directory, name);
    writeFileSync(path, text, { mode: 0o600 });
    if (user) chownSync(path, user.uid, user.gid);
  }
}

const answers = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
