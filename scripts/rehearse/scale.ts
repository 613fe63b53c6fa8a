/**
 * `npm run rehearse:scale`: the whole of a larger installation on one machine, and its worst minute. A primary with a
 * synchronous standby, PgBouncer, three API processes behind a balancer, three workers; users who write and watch; then the
 * primary is killed and the standby promoted. Ends with a report, and with exit code 1 if anything acknowledged was lost.
 *
 * Usage: node scripts/rehearse/scale.ts [--seconds 10] [--writers 12] [--pause 20] [--keep]   (--keep: the logs)
 * docs/how-to/scale.md tells what it gave.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { freePort } from "../../src/cluster/port.ts";
import { Bouncer, findBouncer, olderMisses } from "./bouncer.ts";
import { Forwarder } from "./forwarder.ts";
import { Load } from "./load.ts";
import { processes } from "./processes.ts";
import { examine, print } from "./report.ts";
import { startServers } from "./servers.ts";
import { until } from "./until.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "10" },
    writers: { type: "string", default: "12" },
    pause: { type: "string", default: "20" },
    keep: { type: "boolean", default: false },
  },
});
const seconds = Number(values.seconds);
const host = "127.0.0.1";
const say = (line: string) => process.stderr.write(`${line}\n`);

const found = findBouncer(olderMisses.log); // each API process reads it through here
if ("problem" in found) {
  say(`The rehearsal needs PgBouncer 1.23 or newer: ${found.problem}.`);
  process.exit(1);
}
const directory = mkdtempSync(join(tmpdir(), "svc-rehearsal-"));
const undo: (() => unknown)[] = [];
try {
  await rehearse(found.program);
  if (values.keep) say(`The logs stay in ${directory}.`);
  else undo.unshift(() => rmSync(directory, { recursive: true, force: true }));
} catch (error) {
  say(`${(error as Error).stack}\nThe logs stay in ${directory}.`);
  process.exitCode = 1;
} finally {
  for (const step of undo.reverse()) await step();
}

async function rehearse(program: string): Promise<void> {
  say("starting a primary with a synchronous standby");
  const servers = await startServers(directory);
  undo.push(() => servers.stop());
  const { urls } = servers.primary;
  const direct = new URL(urls.request);

  const logins = [urls.request, urls.auth, urls.system, urls.replication, urls.admin].map((url) => new URL(url));
  const bouncer = await Bouncer.start({
    program,
    server: { host, port: Number(direct.port) },
    passwords: Object.fromEntries(logins.map(({ username, password }) => [username, password])),
    databases: {
      svc: { name: direct.pathname.slice(1), mode: "transaction" },
      svc_session: { name: direct.pathname.slice(1), mode: "session" },
    },
  });
  undo.push(() => {
    writeFileSync(join(directory, "pgbouncer.log"), bouncer.log());
    return bouncer.stop();
  });
  const via = (url: string, database: string) => {
    const through = new URL(url);
    through.port = String(bouncer.port);
    through.pathname = database;
    return through.href;
  };

  const ports = [await freePort(), await freePort(), await freePort()];
  const balancer = await Forwarder.start(ports);
  undo.push(() => balancer.stop());
  const baseUrl = `http://localhost:${balancer.port}`;
  const svc = processes(join(directory, "logs"), {
    DATABASE_URL: via(urls.request, "svc"),
    DATABASE_AUTH_URL: via(urls.auth, "svc"),
    DATABASE_SYSTEM_URL: via(urls.system, "svc"),
    DATABASE_QUEUE_URL: via(urls.system, "svc_session"),
    DATABASE_REPLICATION_URL: via(urls.replication, "svc_session"),
    DATABASE_ADMIN_URL: via(urls.admin, "svc_session"),
    AUTHLIB_URL: baseUrl,
    AUTHLIB_SECRET: randomBytes(32).toString("hex"),
  });
  undo.push(() => svc.stop());
  say("starting three API processes and three workers");
  await svc.start("codegen", ["codegen"]); // the committed files may be older than what writes them
  await svc.start("migrate", ["migrate"]);
  for (const [index, port] of ports.entries()) await svc.start(`api${index}`, ["start"], { PORT: String(port) });
  for (const index of [0, 1, 2]) await svc.start(`worker${index}`, ["worker"]);

  const load = new Load(baseUrl);
  await load.start(Number(values.writers), Number(values.pause));
  undo.push(() => load.close());
  await until(() => load.acknowledged.length > 0 && load.watchers.every(({ isLive }) => isLive));
  say(`${values.writers} users write and watch; ${seconds} s until the primary is killed`);
  await sleep(seconds * 1000);

  const killed = performance.now();
  servers.kill();
  await servers.promote();
  await bouncer.repoint({ host, port: servers.port });
  const promoted = performance.now();
  say("the primary is killed, the standby promoted, PgBouncer repointed");
  await until(() => load.acknowledged.some(({ at }) => at > promoted));
  await until(() => load.watchers.every(({ isLive }) => isLive));
  const live = performance.now();
  await sleep(seconds * 1000);
  await load.stop();
  const ended = performance.now();

  const result = await examine(servers, load, { killed, promoted, live, ended });
  print(result);
  if (result.wrong.length > 0) process.exitCode = 1;
}
