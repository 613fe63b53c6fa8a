/** A streaming standby of a server on this machine, made by pg_basebackup. Used by the rehearsal and by tests. */

import { spawn } from "node:child_process";
import { chownSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { serverUser } from "../../src/cluster/places.ts";
import { freePort } from "../../src/cluster/port.ts";
import { readPostmaster } from "../../src/cluster/postmaster.ts";
import { run, serverEnvironment } from "../../src/cluster/run.ts";
import { configuration, stop } from "../../src/cluster/server.ts";
import { until } from "./until.ts";

export interface StandbyOptions {
  /** Where pg_basebackup and postgres are. */
  binDir: string;
  /** The primary's, as a superuser. */
  adminUrl: string;
  /** Made; its parent lets the server's user pass. */
  data: string;
  /** Under which the primary knows it, and the name of its slot. */
  name: string;
  settings: Record<string, string>;
}

export interface Standby {
  port: number;
  /** As the administrator, to a database of it. */
  connect(database?: string): Promise<pg.Client>;
  stop(): Promise<void>;
}

export const canMakeStandby = (binDir: string): boolean => existsSync(join(binDir, "pg_basebackup"));

export async function startStandby({ binDir, adminUrl, data, name, settings }: StandbyOptions): Promise<Standby> {
  const user = await serverUser(join(data, "nowhere"));
  const make = (folder: string) => {
    mkdirSync(folder, { mode: 0o700 });
    if (user) chownSync(folder, user.uid, user.gid);
    return folder;
  };
  make(data);
  const copies = (await tablespaces(adminUrl)).map(({ name, place }) => `${place}=${make(`${data}.${name}`)}`);
  const admin = new URL(adminUrl);
  const connection = `host=127.0.0.1 port=${admin.port} user=postgres application_name=${name}`;
  const copied = await run(
    join(binDir, "pg_basebackup"),
    [
      ...["-d", connection, "-D", data, "-R", "-C", "-S", name, "--checkpoint=fast", "--no-sync"],
      ...copies.map((copy) => `--tablespace-mapping=${copy}`),
    ],
    { user, env: { ...serverEnvironment(), PGPASSWORD: decodeURIComponent(admin.password) }, cwd: "/" },
  );
  if (!copied.ok) throw new Error(`pg_basebackup: ${copied.stderr}`);

  const port = await freePort();
  writeFileSync(join(data, "svc.conf"), configuration(port, settings));
  const logFile = `${data}.log`;
  const log = openSync(logFile, "w");
  const child = spawn(join(binDir, "postgres"), ["-D", data], {
    cwd: data,
    env: serverEnvironment(),
    stdio: ["ignore", log, log],
    ...(user && { uid: user.uid, gid: user.gid }),
  });
  const connect = async (database = "postgres") => {
    const url = new URL(adminUrl);
    url.port = String(port);
    url.pathname = database;
    return connected(url.href);
  };
  await until(async () => {
    if (child.exitCode !== null) throw new Error(readFileSync(logFile, "utf8"));
    return connect().then(
      (client) => client.end().then(() => true),
      () => false,
    );
  });
  return {
    port,
    connect,
    async stop() {
      const postmaster = readPostmaster(data);
      if (postmaster) await stop(postmaster, data);
    },
  };
}

/** On one machine the copies of both servers cannot lie in the same place. */
async function tablespaces(adminUrl: string): Promise<{ name: string; place: string }[]> {
  const client = await connected(adminUrl);
  try {
    const { rows } = await client.query(
      `select spcname as name, pg_tablespace_location(oid) as place
         from pg_tablespace where pg_tablespace_location(oid) <> ''`,
    );
    return rows;
  } finally {
    await client.end();
  }
}

export async function connected(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  client.on("error", () => {}); // killed on purpose
  await client.connect();
  return client;
}
