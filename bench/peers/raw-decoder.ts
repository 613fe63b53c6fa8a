/**
 * The least that reading the log can be: `pg-logical-replication` decodes every change, and this counts the updates.
 * `GET /?until=N` is answered when it has seen N of them.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import pg from "pg";
import { PgoutputPlugin } from "pg-logical-replication";

/** What the driver's types leave out. */
interface Connection {
  on(event: "copyData", listener: (message: { chunk: Buffer }) => void): void;
  once(event: "replicationStart", listener: () => void): void;
  sendCopyFromChunk(chunk: Buffer): void;
}

const options = { connectionString: process.env.DATABASE_REPLICATION_URL, replication: "database" };
const client = new pg.Client(options as pg.ClientConfig);
await client.connect();
const slot = `svc_bench_${process.pid}`;
await client.query(`CREATE_REPLICATION_SLOT ${slot} TEMPORARY LOGICAL pgoutput NOEXPORT_SNAPSHOT`);
const plugin = new PgoutputPlugin({ protoVersion: 1, publicationNames: ["svc"], messages: true });

let seen = 0;
const waiting = new Map<number, () => void>();
const connection = (client as unknown as { connection: Connection }).connection;
connection.on("copyData", ({ chunk }) => {
  if (chunk[0] !== 0x77 || plugin.parse(chunk.subarray(25)).tag !== "update") return;
  waiting.get(++seen)?.();
});
const server = createServer((request, response) => {
  const until = Number(new URL(request.url ?? "/", "http://x").searchParams.get("until"));
  if (seen >= until) response.end();
  else waiting.set(until, () => response.end());
});
server.keepAliveTimeout = 600_000; // it is held meanwhile
connection.once("replicationStart", () =>
  server.listen(0, () => console.info(`Ready: http://localhost:${(server.address() as AddressInfo).port}`)),
);
process.on("SIGTERM", () => process.exit(0));
// A sign of life; how far it is, it never says, and the server keeps the log for it.
const status = Buffer.alloc(34);
status[0] = 0x72;
setInterval(() => connection.sendCopyFromChunk(status), 5_000);
await plugin.start(client, slot, "0/0");
