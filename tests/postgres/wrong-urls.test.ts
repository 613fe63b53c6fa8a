// If this file fails, a process starts with the URLs of two databases, and its clients hear of no change and of no
// revoked session; or with the login of another URL, and its first statement is refused without a remedy; or with a database
// that was restored without owners, in which searches show rows of others.
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { Logins } from "../../src/cluster/external.ts";
import { openCluster } from "../../src/cluster/open-cluster.ts";
import { database } from "../support/database.ts";

const db = database();

const open = (more: NodeJS.ProcessEnv, logins: Logins = "serving") => {
  const { request, auth, system, replication } = db.urls;
  const env = {
    DATABASE_URL: request,
    DATABASE_AUTH_URL: auth,
    DATABASE_SYSTEM_URL: system,
    DATABASE_REPLICATION_URL: replication,
  };
  return openCluster({ directory: "/nonexistent", env: { ...env, ...more }, logins });
};

test("with the right ones it starts", async () => {
  expect((await open({})).origin).toBe("external");
});

test.each(["AUTH", "SYSTEM", "QUEUE", "REPLICATION"])("DATABASE_%s_URL leads to another database", async (word) => {
  const { system, replication } = db.urls;
  const url = Object.assign(new URL(word === "REPLICATION" ? replication : system), { pathname: "/postgres" }).href;
  await expect(open({ [`DATABASE_${word}_URL`]: url })).rejects.toThrow(
    new RegExp(`^DATABASE_${word}_URL leads to another database \\(postgres\\) than DATABASE_URL`),
  );
});

test.each([
  ["DATABASE_URL", "auth", "svc_request"],
  ["DATABASE_AUTH_URL", "request", "svc_auth"],
  ["DATABASE_SYSTEM_URL", "request", "svc_system"],
] as const)("%s with the login of %s names %s", async (variable, pool, wanted) => {
  await expect(open({ [variable]: db.urls[pool] })).rejects.toThrow(
    new RegExp(`of ${variable} lacks the rights of ${wanted}\\. Name ${wanted} there`),
  );
});

test("a password that is wrong is not repaired by a server of svc's own", async () => {
  const url = Object.assign(new URL(db.urls.auth), { password: "wrong" }).href;
  await expect(open({ DATABASE_AUTH_URL: url })).rejects.toThrow(/^DATABASE_AUTH_URL does not lead(?!.*unset)/s);
});

test("a server that breaks off after the login is an error of the start", async () => {
  const greeting = Buffer.concat([Buffer.from("R\0\0\0\x08\0\0\0\0"), Buffer.from("Z\0\0\0\x05I")]);
  const server = createServer((socket) => {
    socket.once("data", () => {
      socket.write(greeting);
      socket.once("data", () => socket.resetAndDestroy());
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await expect(open({ DATABASE_URL: `postgres://svc_request@127.0.0.1:${port}/app` })).rejects.toThrow(/ECONNRESET/);
  server.close();
});

test.each(["serving", "admin", "system"] as const)(
  "a database that was restored without its owners (%s)",
  async (logins) => {
    const signature = "svc_hidden.find_objects_as_authenticated(uuid[])";
    await db.sql(`alter function ${signature} owner to current_user`); // as pg_dump --no-owner leaves it
    await expect(open({ DATABASE_ADMIN_URL: db.url("admin") }, logins)).rejects.toThrow(
      /^Functions of svc in the database svc_test_\w+ belong to \w+, .*--no-owner.* Restore it again/,
    );
    await db.sql("call svc_private.run_as_reader($1::regprocedure, 'svc_reader_authenticated')", [signature]);
    expect((await open({ DATABASE_ADMIN_URL: db.url("admin") }, logins)).origin).toBe("external");
  },
);

test("a server whose disk is full is not said to have a wrong address", async () => {
  const fields = ["SFATAL", "C53100", "Mcould not write init file: No space left on device"].map((text) => `${text}\0`);
  const body = Buffer.from(`${fields.join("")}\0`);
  const head = Buffer.from("E\0\0\0\0");
  head.writeInt32BE(body.length + 4, 1);
  const server = createServer((socket) => socket.once("data", () => socket.end(Buffer.concat([head, body]))));
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `postgres://svc_request:x@127.0.0.1:${(server.address() as AddressInfo).port}/app`;
  await expect(open({ DATABASE_URL: url })).rejects.toThrow(
    /No space left on device\. The disk of PostgreSQL is full: make room\.$/,
  );
});
