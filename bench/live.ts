/**
 * Watched queries of the author's own: what an answer costs beside one that nobody watches, and a change of a table beside
 * the same change told to a generated list, and beside one that concerns nobody here.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import pg from "pg";
import { openCluster } from "../src/cluster/open-cluster.ts";
import { median } from "./measure.ts";
import { contestant } from "./process.ts";
import { type Listeners, listeners } from "./sockets.ts";

const here = import.meta.dirname;
const svcCommand = join(here, "../src/cli/svc.ts");
const sockets = 1_000;
const changes = 30;
/** Of rows whose owner watches nothing. */
const unheard = 1_000;
const calls = 300;
const rounds = 7;

export async function run(): Promise<void> {
  execFileSync(process.execPath, [svcCommand, "codegen", "--cwd", join(here, "app")], { stdio: "ignore" });
  const cluster = await openCluster({ directory: join(here, "app/.svc"), report: console.info });
  const { urls } = cluster;
  // While developing, a watched call also looks for what reads past the policies.
  const svc = await contestant([svcCommand, "start", "--cwd", join(here, "app")], {
    PORT: "0",
    LOG_LEVEL: "warn",
    NODE_ENV: "production",
    AUTHLIB_SECRET: "0".repeat(32),
    DATABASE_URL: urls.request,
    DATABASE_AUTH_URL: urls.auth,
    DATABASE_SYSTEM_URL: urls.system,
    DATABASE_REPLICATION_URL: urls.replication,
  });
  const admin = new pg.Client({ connectionString: cluster.urls.admin });
  await admin.connect();
  await admin.query("set synchronous_commit to on");
  const all: Listeners[] = [];
  try {
    const post = async (path: string, body: object, token?: string) => {
      const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
      const response = await fetch(`${svc.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
      return response.json() as Promise<Record<string, never>>;
    };
    const email = `bench-${Date.now()}@example.com`;
    const signedUp = await post("/api/auth/sign-up", { email, password: "correct horse battery", name: "Bench" });
    const token = String(signedUp.sessionToken);
    const userId = (signedUp.user as unknown as { id: string }).id;

    const ask = (watch: boolean) => post("/api/query", { name: "openItems", ...(watch && { watch }) }, token);
    const asked = async (watch: boolean) => {
      const before = performance.now();
      for (let n = 0; n < calls; n++) await ask(watch);
      return (performance.now() - before) / calls;
    };
    const taken = { watched: [] as number[], plain: [] as number[] };
    for (let round = -1; round < rounds; round++) {
      const [watched, plain] = [await asked(true), await asked(false)];
      if (round < 0) continue; // warm up
      taken.watched.push(watched);
      taken.plain.push(plain);
    }
    const [watched, plain] = [median(taken.watched), median(taken.plain)];
    console.info("\na call of a query of one's own, one after the other");
    console.info(`  watched      ${watched.toFixed(2)} ms   ${(watched / plain).toFixed(2)}x`);
    console.info(`  not watched  ${plain.toFixed(2)} ms   1.00x`);

    const url = svc.url.replace("http", "ws");
    const change = (user = userId) => admin.query("insert into items (user_id, title) values ($1, 'new')", [user]);
    let foreign = 0;
    const cost = async (order: { keys: string[]; follows?: string }) => {
      const who = listeners();
      all.push(who);
      await who.open({ open: sockets, url, token, ...order });
      const costs: number[] = [];
      for (let round = -1; round < rounds; round++) {
        const before = svc.cpu();
        for (let n = 0; n < changes; n++) await Promise.all([who.heard(sockets), change()]);
        if (round >= 0) costs.push((svc.cpu() - before) / (sockets * changes));
      }
      const before = svc.cpu();
      for (let n = 0; n < unheard; n++) await change("somebody else");
      await Promise.all([who.heard(sockets), change()]); // behind all of them in the log
      foreign = (svc.cpu() - before - sockets * median(costs)) / unheard;
      who.stop();
      all.pop();
      return median(costs);
    };
    const list = await cost({ keys: ["items.list"] });
    const { follows } = await ask(true);
    const followed = await cost({ keys: ["openItems"], follows: String(follows) });
    const rate = (micros: number) => `${(1e6 / micros).toFixed(0).padStart(7)} deliveries per CPU second`;
    console.info(`\na change of a row, told to ${sockets} sockets`);
    console.info(`  query of one's own  ${rate(followed)}   ${(list / followed).toFixed(2)}x`);
    console.info(`  generated list      ${rate(list)}   1.00x`);
    console.info(`\na change of another owner's row, beside ${sockets} sockets that follow the table`);
    console.info(
      `  ${foreign.toFixed(0)} µs of CPU; one that is told to all of them ${(followed * sockets).toFixed(0)} µs`,
    );
    await admin.query("delete from items where user_id in ($1, 'somebody else')", [userId]);
  } finally {
    for (const one of all) one.stop();
    await admin.end();
    await svc.stop();
    await cluster.stop();
  }
}
