/** Writes `sql/schema.dump.sql` from a fresh install; with --check it only compares and exits 1 on a difference. */
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import pg from "pg";
import { openCluster } from "../src/postgres/cluster.ts";
import { dumpSchema } from "../src/postgres/dump.ts";
import { migrate } from "../src/postgres/migrate.ts";

const root = resolve(import.meta.dirname, "..");
const file = join(root, "sql/schema.dump.sql");
const name = "svc_dump";

const cluster = await openCluster({ directory: join(root, ".svc"), name: "test-auto" });
const url = new URL(cluster.urls.admin);
const admin = new pg.Client({ connectionString: url.href });
try {
  await admin.connect();
  await admin.query(`drop database if exists ${name} with (force)`);
  await admin.query(`create database ${name}`);
  url.pathname = `/${name}`;
  await migrate({ adminUrl: url.href, platform: root });
  const fresh = await dumpSchema(url.href);
  await admin.query(`drop database ${name} with (force)`);

  if (!process.argv.includes("--check")) await writeFile(file, fresh);
  else if ((await readFile(file, "utf8").catch(() => "")) === fresh) console.info("sql/schema.dump.sql is current.");
  else {
    console.error("sql/schema.dump.sql differs from a fresh install. Run `npm run db:dump` and commit the result.");
    process.exitCode = 1;
  }
} finally {
  // Before the cluster stops: it would end this connection, and the error of that would hide what went wrong.
  await admin.end();
  await cluster.stop();
}
