/**
 * An S3-compatible store for a test file: `moto_server`, a separate process that keeps all data in memory. If it is not
 * installed (`pip install "moto[server]"`) the tests are skipped with a message. Why this one: docs/adr/. For another store
 * set SVC_TEST_S3 to its URL, and AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to those of a user that may create buckets.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { Socket } from "node:net";
import { delimiter, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import { afterAll, beforeAll } from "vitest";
import { freePort } from "./free-port.ts";

/** URL of a store that is running already. */
const other = process.env.SVC_TEST_S3;

// Looked for, not run: it needs two seconds to print its help.
export const hasS3Server =
  other !== undefined ||
  (process.env.PATH ?? "").split(delimiter).some((folder) => existsSync(join(folder, "moto_server")));
if (!hasS3Server)
  console.warn('Tests of the S3 driver are skipped: there is no moto_server. pip install "moto[server]"');

/** Of this file's tests alone, also in a store that keeps the buckets of earlier runs. */
export const bucket = `svc-files-${randomUUID()}`;

/** Starts it before this file's tests and ends it after them. */
export function s3Server(): { endpoint: string } {
  const server = { endpoint: "" };
  let child: ChildProcess | undefined;
  const startMoto = async () => {
    const port = await freePort();
    // Any credentials are accepted, but the client requires some.
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" });
    // A hundred keys an answer: fewer objects fill several, as a thousand do elsewhere.
    const env = { ...process.env, MOTO_S3_DEFAULT_MAX_KEYS: "100" };
    child = spawn("moto_server", ["-H", "127.0.0.1", "-p", String(port)], { stdio: "ignore", env });
    await listening(port, child);
    return `http://127.0.0.1:${port}`;
  };
  beforeAll(async () => {
    server.endpoint = other ?? (await startMoto());
    const client = new S3Client({ endpoint: server.endpoint, region: "us-east-1", forcePathStyle: true });
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
    client.destroy();
  });
  afterAll(async () => {
    if (!child || child.exitCode !== null) return;
    const gone = once(child, "exit");
    child.kill();
    await gone;
  });
  return server;
}

async function listening(port: number, child: ChildProcess): Promise<void> {
  while (child.exitCode === null) {
    const socket = new Socket();
    const isOpen = await new Promise((resolve) => {
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
      socket.connect(port, "127.0.0.1");
    });
    socket.destroy();
    if (isOpen) return;
    await pause(50);
  }
  throw new Error(`moto_server ended with ${child.exitCode} before it listened.`);
}
