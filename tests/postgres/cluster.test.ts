// If this file fails, svc does not start on some machine, or loses data when a process is killed. Real servers in
// temporary directories; runs as root and as an ordinary user.
import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkServer } from "../../src/cluster/external.ts";
import { openCluster } from "../../src/cluster/open-cluster.ts";
import { ask, fast, inAnotherProcess, open, readRunning, restartByHand, serverPid, temporary } from "./clusters.ts";

const seconds = 1000;
describe("a first start", { timeout: 60 * seconds }, () => {
  test("gives each pool a login that can do no more than its work", async () => {
    const cluster = await open(temporary());
    const row = (column: string) => `select ${column} from pg_roles where rolname = current_user`;
    const attributes = "concat_ws(' ', rolname, rolsuper, rolinherit, rolbypassrls, rolreplication, rolcreaterole)";

    expect(await ask(cluster.urls.request, row(attributes))).toBe("svc_request f f f f f");
    expect(await ask(cluster.urls.auth, row(attributes))).toBe("svc_auth f t f f f");
    expect(await ask(cluster.urls.system, row(attributes))).toBe("svc_system f t t f f");
    expect(await ask(cluster.urls.replication, row(attributes))).toBe("svc_replicator f t f t f");
    expect(await ask(cluster.urls.admin, row("rolsuper"))).toBe(true);
  });

  test("makes a server that keeps what is committed, and sorts and counts time alike everywhere", async () => {
    const cluster = await open(temporary(), { settings: {} });
    const setting = (name: string) => ask(cluster.urls.request, `show ${name}`);

    expect(await setting("fsync")).toBe("on");
    expect(await setting("wal_level")).toBe("logical");
    expect(await setting("timezone")).toBe("UTC");
    expect(await setting("server_encoding")).toBe("UTF8");
    expect(
      await ask(cluster.urls.admin, "select string_agg(w, '' order by w) from unnest('{b,A,a,B}'::text[]) w"),
    ).toBe("ABab");
    expect(await ask(cluster.urls.admin, "select lower('ÄÉ')")).toBe("äé");
  });

  test("refuses a wrong password and keeps the right ones from other users", async () => {
    const cluster = await open(temporary());
    const wrong = cluster.urls.admin.replace(/:[0-9a-f]+@/, ":guess@");
    await expect(ask(wrong, "select 1")).rejects.toThrow(/password authentication failed/);
    expect(statSync(join(cluster.directory ?? "", "access.json")).mode & 0o077).toBe(0);
  });
});

describe("the next start", { timeout: 60 * seconds }, () => {
  test("finds data and addresses as they were", async () => {
    const directory = temporary();
    const first = await open(directory);
    await ask(first.urls.admin, "create table kept as select 42 as n");
    await first.stop();
    await expect(ask(first.urls.admin, "select 1")).rejects.toThrow();

    const second = await open(directory);
    expect(second.urls).toEqual(first.urls);
    expect(second.origin).toBe("cached");
    expect(await ask(second.urls.admin, "select n from kept")).toBe(42);
  });

  test("applies settings that have changed", async () => {
    const directory = temporary();
    await (await open(directory)).stop();
    const cluster = await open(directory, { settings: { ...fast, work_mem: "7MB", application_name: "it's" } });
    expect(await ask(cluster.urls.admin, "show work_mem")).toBe("7MB");
    expect(await ask(cluster.urls.admin, "select setting from pg_file_settings where name = 'application_name'")).toBe(
      "it's",
    );
  });

  test("sets new passwords when their file is lost", async () => {
    const directory = temporary();
    const first = await open(directory);
    await ask(first.urls.admin, "create table kept as select 42 as n");
    await first.stop();
    rmSync(join(first.directory ?? "", "access.json"));

    const second = await open(directory);
    expect(await ask(second.urls.admin, "select n from kept")).toBe(42);
    expect(await ask(second.urls.request, "select current_user::text")).toBe("svc_request");
  });

  test("says what to do with a cluster of another major version", async () => {
    const directory = temporary();
    const first = await open(directory);
    await first.stop();
    writeFileSync(join(first.directory ?? "", "data/PG_VERSION"), "12\n");
    await expect(open(directory)).rejects.toThrow(/made by PostgreSQL 12.*Install PostgreSQL 12 again.*dump/s);
  });
});

describe("several processes", { timeout: 60 * seconds }, () => {
  test("share a server, which ends with the one that started it", async () => {
    const directory = temporary();
    const owner = await open(directory);
    const guest = await inAnotherProcess(directory);
    expect(guest.owned).toBe(false);
    expect(guest.url).toBe(owner.urls.admin);

    await guest.end();
    expect(await ask(owner.urls.admin, "select 1")).toBe(1);
    await owner.stop();
    await expect(ask(guest.url, "select 1")).rejects.toThrow();
  });

  test("start it once when they come at the same time", async () => {
    const directory = temporary();
    const opened = await Promise.all([inAnotherProcess(directory), inAnotherProcess(directory), open(directory)]);
    expect(opened.filter((each) => each.owned)).toHaveLength(1);
  });

  test("take it over when its owner was killed", async () => {
    const directory = temporary();
    const killed = await inAnotherProcess(directory);
    await ask(killed.url, "create table kept as select 42 as n");
    const pid = serverPid(killed);
    await killed.kill();

    const heir = await open(directory);
    expect(heir.owned).toBe(true);
    expect(serverPid(heir)).toBe(pid);
    expect(await ask(heir.urls.admin, "select n from kept")).toBe(42);
    await heir.stop();
    await expect(ask(heir.urls.admin, "select 1")).rejects.toThrow();
  });

  test("a process that took it over from a killed owner does not stop it beneath those who still serve", async () => {
    const directory = temporary();
    const owner = await inAnotherProcess(directory);
    const serving = await inAnotherProcess(directory);
    await owner.kill();
    const command = await open(directory);
    expect(command.owned).toBe(true);
    await command.stop();
    expect(await ask(serving.url, "select 1")).toBe(1);
    await serving.end();
    await expect(ask(serving.url, "select 1")).rejects.toThrow();
  });

  test("leave a server that somebody restarted to its owner, who serves on", async () => {
    const directory = temporary();
    const owner = await inAnotherProcess(directory);
    await restartByHand(owner.directory);
    const guest = await open(directory);
    expect(guest.owned).toBe(false);
    await guest.stop();
    expect(await ask(owner.url, "select 1")).toBe(1);
  });

  test("stop a server that somebody restarted, too, when its owner goes", async () => {
    const owner = await inAnotherProcess(temporary());
    const pid = await restartByHand(owner.directory);
    await expect.poll(() => readRunning(owner.directory).postmaster, { timeout: 30 * seconds }).toBe(pid);
    await owner.end();
    await expect(ask(owner.url, "select 1")).rejects.toThrow();
  });

  test("leave no server behind when the owner was killed and the last guest goes", async () => {
    const directory = temporary();
    const owner = await inAnotherProcess(directory);
    const guest = await open(directory);
    await owner.kill();
    expect(await ask(guest.urls.admin, "select 1")).toBe(1);
    await guest.stop();
    await expect(ask(guest.urls.admin, "select 1")).rejects.toThrow();
  });
});

describe("after a crash of the server too", { timeout: 60 * seconds }, () => {
  // processes that now have the dead server's pid
  const strangers = [
    { holder: "nobody", pid: () => null },
    { holder: "another process", pid: () => process.pid },
  ] as const;

  test.for(strangers)("it starts although the left pid is $holder's", async ({ pid }) => {
    const directory = temporary();
    const killed = await inAnotherProcess(directory);
    await ask(killed.url, "create table kept as select 42 as n");
    const file = join(killed.directory, "data/postmaster.pid");
    await killed.kill();
    process.kill(serverPid(killed), "SIGKILL");
    if (pid() !== null) writeFileSync(file, readFileSync(file, "utf8").replace(/^\d+/, String(pid())));

    const cluster = await open(directory);
    expect(await ask(cluster.urls.admin, "select n from kept")).toBe(42);
  });
});

const withPassword = (url: string, password: string) => Object.assign(new URL(url), { password }).href;

describe("DATABASE_URL", { timeout: 60 * seconds }, () => {
  const external = (url: string, more: NodeJS.ProcessEnv = {}) =>
    openCluster({ directory: temporary(), env: { DATABASE_URL: url, ...more } });

  test("is used as it is, and the server is left running", async ({ skip }) => {
    const own = await open(temporary());
    if (!own.vector) return skip(own.reason);
    const { admin, system } = own.urls;
    const cluster = await external(admin, { DATABASE_SYSTEM_URL: system });

    expect(cluster).toMatchObject({ origin: "external", owned: false, binDir: null, vector: own.vector });
    expect(cluster.urls).toEqual({ request: admin, system, queue: system, auth: admin, admin, replication: admin });
    await cluster.stop();
    expect(await ask(admin, "select count(*)::int from pg_extension where extname = 'vector'")).toBe(0);
  });

  test("that leads nowhere names what to check", async () => {
    const url = "postgres://someone:secret@127.0.0.1:1/app";
    await expect(external(url)).rejects.toThrow(
      /^DATABASE_URL does not lead to a database.*ECONNREFUSED.*Check its host/,
    );
    await expect(external(url)).rejects.not.toThrow(/secret/);
  });

  test("without logical replication names the setting", async () => {
    const own = await open(temporary(), { settings: { ...fast, wal_level: "replica" } });
    await expect(external(own.urls.admin)).rejects.toThrow(/wal_level=replica.*alter system set wal_level = logical/);
  });

  test("whose logins may too little names the grant; the administrator's is enough to make the others", async ({
    skip,
  }) => {
    const own = await open(temporary());
    if (!own.vector) return skip(own.reason);
    const env = { DATABASE_URL: withPassword(own.urls.request, "none yet"), DATABASE_ADMIN_URL: own.urls.admin };
    const cluster = await openCluster({ directory: temporary(), env, logins: "admin" });
    expect(cluster.urls.admin).toBe(own.urls.admin);
    await expect(openCluster({ directory: temporary(), env, logins: "serving" })).rejects.toThrow(
      /DATABASE_URL does not lead.*password.*alter role svc_request password/s,
    );
    const auth = { ...env, DATABASE_URL: own.urls.request, DATABASE_AUTH_URL: withPassword(own.urls.auth, "another") };
    await expect(openCluster({ directory: temporary(), env: auth, logins: "serving" })).rejects.toThrow(
      /DATABASE_AUTH_URL does not lead.*alter role svc_auth password/s,
    );
    await ask(own.urls.admin, "create extension vector");
    await expect(external(own.urls.auth)).rejects.toThrow(/grant create on database svc to svc_auth/);
    const { admin, request } = own.urls;
    await expect(external(admin, { DATABASE_REPLICATION_URL: request })).rejects.toThrow(
      /DATABASE_REPLICATION_URL may not read.*alter role svc_request replication/,
    );
  });

  // Such old servers are not available here, so these facts imitate one.
  const good = {
    version: "16.2",
    versionNumber: 160002,
    walLevel: "logical",
    vector: "0.10.0",
    database: "app",
    login: "app",
    mayCreate: true,
    mayReplicate: true,
    identity: null,
    mayServe: { request: true, auth: true, system: true },
    wrongOwner: null,
  };
  const wrong = [
    { what: "an old server", facts: { version: "14.9", versionNumber: 140009 }, says: /14\.9.*15 or newer.*Upgrade/ },
    { what: "no pgvector", facts: { vector: null }, says: /no pgvector.*postgresql-16-pgvector/ },
    { what: "an old pgvector", facts: { vector: "0.6.2" }, says: /0\.6\.2.*0\.7 or newer/ },
  ] as const;
  test.for(wrong)("that leads to $what says so", ({ facts, says }) => {
    expect(() => checkServer({ ...good, ...facts }, "DATABASE_URL")).toThrow(says);
    expect(() => checkServer(good, "DATABASE_URL")).not.toThrow();
  });
});

describe("programs and pgvector", { timeout: 120 * seconds }, () => {
  test("without a C compiler everything starts, and the missing pgvector is explained", async ({ skip }) => {
    const tools = join(temporary(), "bin");
    mkdirSync(tools);
    for (const tool of ["id", "chmod", "ps"]) symlinkSync(`/usr/bin/${tool}`, join(tools, tool));
    const { vector, reason, url } = await inAnotherProcess(temporary(), { PATH: tools, CC: "" }, temporary());
    if (vector) return skip("this machine's PostgreSQL has a pgvector of its own");
    expect(reason).toMatch(/Vector search is off.*no C compiler.*Install one.*scripts\/setup/);
    expect(await ask(url, "select 1")).toBe(1);
  });

  test("the server from npm has pgvector", async ({ skip }) => {
    const cluster = await open(temporary(), { env: { SVC_POSTGRES: "embedded" } });
    if (!cluster.vector) return skip(cluster.reason);
    await ask(cluster.urls.admin, "create extension vector");
    expect(await ask(cluster.urls.admin, "select '[1,2]'::vector <-> '[1,5]'")).toBe(3);
  });

  test("an unknown choice names the known ones", async () => {
    await expect(open(temporary(), { env: { SVC_POSTGRES: "docker" } })).rejects.toThrow(/installed or embedded/);
  });
});
