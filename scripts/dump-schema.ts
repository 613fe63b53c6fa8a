/** Writes `sql/schema.dump.sql` and `sql/_functions.md` from a fresh install; with --check it only compares and exits 1 on a difference. */
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import pg from "pg";
import { openCluster } from "../src/cluster/open-cluster.ts";
import { dumpSchema } from "../src/migrate/dump.ts";
import { migrate } from "../src/migrate/migrate.ts";
import { listFunctions } from "../src/postgres/functions.ts";
import { functionsPage } from "./functions-page.ts";

const root = resolve(import.meta.dirname, "..");
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
  const installed = new pg.Client({ connectionString: url.href });
  await installed.connect();
  const functions = functionsPage(await listFunctions(installed));
  await installed.end();
  const files = { "sql/schema.dump.sql": await dumpSchema(url.href), "sql/_functions.md": functions };
  await admin.query(`drop database ${name} with (force)`);

  for (const [name, fresh] of Object.entries(files)) {
    const file = join(root, name);
    if (!process.argv.includes("--check")) await writeFile(file, fresh);
    else if ((await readFile(file, "utf8").catch(() => "")) === fresh) console.info(`${name} is current.`);
    else {
      console.error(`${name} differs from a fresh install. Run \`npm run db:dump\` and commit the result.`);
      process.exitCode = 1;
    }
  }
} finally {
  // Before the cluster stops: it would end this connection, and the error of that would hide what went wrong.
  await admin.end();
  await cluster.stop();
}
