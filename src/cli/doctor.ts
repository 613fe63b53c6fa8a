/** `svc doctor`: checks everything that an application needs to run, and says how to fix problems. Changes nothing. */
import type pg from "pg";
import { loadApp } from "../app/load-app.ts";
import { labelOf, providersOf, variablesOf } from "../auth/social/names.ts";
import type { EffectiveConfig } from "../config/config.ts";
import { describeConfig } from "../config/describe-config.ts";
import type { LoadedApp } from "../contract/loaded-app.ts";
import { refuseDrift } from "../crud/fingerprints.ts";
import { followedTables } from "../crud/followed-tables.ts";
import { compareFiles } from "../migrate/ledger.ts";
import { refuseUsed } from "../migrate/scratch.ts";
import { describeVanished, findVanished } from "../migrate/vanished.ts";
import { createPools } from "../postgres/pools.ts";
import { describePublication } from "../realtime/publication.ts";
import { describeClosedFolder, describeMissingFolder } from "../storage/missing-folder.ts";
import { createDriver } from "../storage/storage.ts";
import { createLog } from "../telemetry/log.ts";
import { missingReceivers, remedy } from "../webhooks/receivers.ts";
import { openDatabase, readConfig, targetOf } from "./command.ts";
import { defineCommand } from "./define.ts";
import {
  advice,
  examineConnections,
  examineReplicas,
  examineServer,
  examineWays,
  examineWrites,
  type Finding,
  ok,
} from "./doctor-connections.ts";
import { examineBackups, examineClock, examineSettings } from "./doctor-durability.ts";
import { examineReplication, replicationState } from "./doctor-replication.ts";
import { examineCollation, examineOldTransactions, examineSchema, examineTriggers } from "./doctor-schema.ts";
import { examineKept, examineRoles, examineWork } from "./doctor-work.ts";
import { explain } from "./explain.ts";
import { flag } from "./options.ts";
import { during, print } from "./output.ts";
import { about, paint } from "./table.ts";

export const command = defineCommand({
  args: { verbose: flag("Also print the configuration in effect and the checks that passed.") },
  run: ({ cwd, verbose }) => examine(cwd, verbose),
});

async function examine(cwd: string, verbose: boolean): Promise<void> {
  const config = await readConfig(cwd);
  const report = new Report(config.cwd);
  report.note("ok", `Node ${process.versions.node}`);
  const app = await during("Loading the application", () =>
    report.check("the application's definitions", () => loadApp(config)),
  );
  await during("Asking the database", () => report.check(null, () => examineDatabase(config, app, report)));
  adviseProviders(config, app, report);
  adviseReceivers(config, app, report);
  adviseProduction(config, report);
  const configuration = describeConfig(config);
  print({ findings: report.findings, configuration: configuration.split("\n") }, () =>
    verbose ? `${report.text(true)}\n${configuration}\n` : report.text(false),
  );
  if (report.failed) process.exitCode = 1;
}

async function examineDatabase(config: EffectiveConfig, app: LoadedApp | undefined, report: Report): Promise<void> {
  const cluster = await openDatabase(config);
  report.note("ok", `PostgreSQL ${cluster.serverVersion}`);
  try {
    if (cluster.vector) report.note("ok", `pgvector ${cluster.vector}`);
    else report.note("advice", "pgvector is missing: everything works but vector search.");
    const target = targetOf(config, cluster.urls.admin);
    const vanished = await findVanished(target);
    if (vanished.length > 0) report.note("wrong", describeVanished(vanished));
    const { pending } = await compareFiles(target);
    if (pending.length > 0) {
      const text = `${pending.length} files are not applied, such as ${pending[0]}.\n  Run svc migrate.`;
      return report.note("wrong", text);
    }
    report.note("ok", "migrations/ and sql/ are applied");
    const scratch = config.database?.scratch;
    if (scratch) await report.check("the database of DATABASE_SCRATCH_URL is empty", () => refuseUsed(scratch));
    if (!app) return;
    const pools = createPools(cluster.urls, { ...config.pool, ...config.limits }, createLog("silent"));
    try {
      const { system } = pools;
      await report.check("the generated functions", () => refuseDrift(system, app.api["~svc"].crud));
      for (const look of [
        () => examineSettings(pools.request),
        () => examineTriggers(pools),
        () => examineCollation(system),
        () => examineSchema(system),
        () => examineQueue(system),
        () => examineWork(system, app.api),
        () => examineRoles(system, app.auth),
        () => examineKept(system, config.limits.historyDays),
        () => examineOldTransactions(system),
      ]) {
        await report.check(null, async () => report.add(await look()));
      }
      await report.check(null, async () => {
        report.add(examineReplication(await replicationState(pools.system)));
        const silent = await describePublication(pools.system, followedTables(app.api, app.schema));
        if (silent) report.note("wrong", silent);
      });
      await report.check(null, async () => {
        report.add(await examineWrites(pools.system));
        report.add(await examineClock(pools.system));
        const missing = await describeMissingFolder(config.storage, createDriver(config.storage), pools.system);
        if (missing) report.note("wrong", missing);
        const closed = await describeClosedFolder(config.storage);
        if (closed) report.note("advice", closed);
        if (config.database) {
          report.add(await examineBackups(pools.system));
          report.add(await examineWays(cluster.urls));
          report.add(await examineServer(pools.system));
          report.add(await examineReplicas(config.database.replicas, pools.system));
        }
        report.add(await examineConnections(pools.system, config));
      });
    } finally {
      await pools.close();
    }
  } finally {
    await cluster.stop();
  }
}

/** In seconds: a job that has been due for longer is reported. */
const patience = 60;

async function examineQueue(pool: pg.Pool): Promise<Finding[]> {
  const { rows } = await pool.query("select * from svc_private.queue_state()");
  const { due, running, scheduled, dead, oldest_due_seconds: oldest } = rows[0];
  const text = `the queue: ${about(due)} jobs due, ${about(running)} running, ${about(scheduled)} scheduled`;
  const findings = [ok(text)];
  const advise = (condition: boolean, text: string) => condition && findings.push(advice(text));
  advise(dead > 0, `${about(dead)} jobs have used up their attempts.\n  See svc jobs list --state dead.`);
  advise(oldest > patience, `A job has been due for ${Math.round(oldest)} s: does a worker run? Start svc worker.`);
  return findings;
}

/** What to register at the providers of social sign-in. */
function adviseProviders({ auth }: EffectiveConfig, app: LoadedApp | undefined, report: Report): void {
  for (const id of providersOf(app?.auth ?? {})) {
    const [client, secret] = variablesOf(id);
    const isSet = id === "google" ? auth.google !== null : auth.clients[client] && auth.clients[secret];
    if (!isSet && id !== "google") report.note("advice", `${labelOf(id)}: ${client} and ${secret} are not both set.`);
    if (!isSet || !auth.url) continue;
    const { origin } = new URL(auth.url);
    const needed = `${id === "google" ? `the JavaScript origin ${origin} and ` : ""}the redirect URI`;
    report.note("ok", `${labelOf(id)}: its client needs ${needed} ${origin}/api/auth/callback/${id}`);
  }
}

/** The variables of webhooks. A worker in production does not start without them. */
function adviseReceivers(config: EffectiveConfig, app: LoadedApp | undefined, report: Report): void {
  const missing = missingReceivers(app?.api["~svc"].webhooks ?? [], config.webhooks);
  if (missing.length === 0) return;
  report.note(config.production ? "wrong" : "advice", [...missing, `  ${remedy}`].join("\n"));
}

/** Settings that are fine in development but not in production. */
function adviseProduction(config: EffectiveConfig, report: Report): void {
  const { database, auth } = config;
  const advise = (condition: boolean, text: string) => condition && report.note("advice", text);
  advise(!auth.url, "AUTHLIB_URL is not set: tokens are issued for the port that is bound. Production needs it.");
  const own = "AUTHLIB_SECRET is not set: a generated one in .svc/secret is used. Production needs it.";
  advise(auth.secrets.length === 0, own);
  advise(
    config.production && config.webhooks.privateEndpoints,
    "webhooks.privateEndpoints is on: users' endpoints may lead to this network. Production needs it off.",
  );
  advise(!database, "DATABASE_URL is not set: the embedded cluster is used. Production needs a server of its own.");
  if (!database) return;
  const { url, system, auth: authUrl, admin } = database;
  const shared = Object.entries({ DATABASE_SYSTEM_URL: system, DATABASE_AUTH_URL: authUrl, DATABASE_ADMIN_URL: admin })
    .filter(([, other]) => other === url)
    .map(([name]) => name);
  advise(
    shared.length > 0,
    `${shared.join(", ")}: not set, so requests share that login. SQL injected into a request could then take its rights.`,
  );
}

const marks: Record<Finding["kind"], { sign: string; colour: number }> = {
  ok: { sign: "ok    ", colour: 32 },
  advice: { sign: "advice", colour: 33 },
  wrong: { sign: "wrong ", colour: 31 },
};

/** Collects findings, so that a failing check does not stop the others. */
class Report {
  readonly #cwd: string;
  readonly findings: Finding[] = [];
  failed = false;

  constructor(cwd: string) {
    this.#cwd = cwd;
  }

  note(kind: Finding["kind"], text: string): void {
    this.add([{ kind, text }]);
  }

  add(findings: readonly Finding[]): void {
    this.findings.push(...findings);
    this.failed ||= findings.some(({ kind }) => kind === "wrong");
  }

  /** @param what the finding when nothing is thrown, or null when `look` reports it itself */
  async check<T>(what: string | null, look: () => Promise<T>): Promise<T | undefined> {
    try {
      const result = await look();
      if (what !== null) this.note("ok", what);
      return result;
    } catch (error) {
      this.note("wrong", explain(error, this.#cwd));
      return undefined;
    }
  }

  /** Problems first, then advice. @param all whether to list passed checks, too */
  text(all: boolean): string {
    const of = (kind: Finding["kind"]) => this.findings.filter((one) => one.kind === kind);
    const lines = [...of("wrong"), ...of("advice"), ...(all ? of("ok") : [])].map(({ kind, text }) => {
      const { sign, colour } = marks[kind];
      return `${paint(sign, colour)}  ${text.replaceAll("\n", "\n        ")}\n`;
    });
    const more = all
      ? ""
      : `${of("ok").length} checks found nothing wrong; --verbose lists them and the configuration.\n`;
    return lines.join("") + more;
  }
}
