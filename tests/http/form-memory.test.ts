// If this file fails, an upload takes memory in proportion to the file, arrives with other bytes, or leaves a temporary
// file.
import { type ChildProcess, fork } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { bytesFolder } from "../support/files.ts";
import { secret } from "../support/service.ts";

const mebibyte = 1024 * 1024;
const db = database();
const folder = bytesFolder();

let child: ChildProcess | undefined;
afterEach(async () => {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  child.disconnect();
  await once(child, "exit");
});

async function start(limits: object = {}): Promise<string> {
  child = fork(
    join(import.meta.dirname, "../support/form-child.ts"),
    [JSON.stringify(db.urls), folder, secret, JSON.stringify(limits)],
    { execArgv: ["--expose-gc", "--disable-warning=ExperimentalWarning"] },
  );
  return (await once(child, "message"))[0];
}

async function told(what: string): Promise<unknown> {
  const answer = once(child as ChildProcess, "message");
  child?.send(what);
  return (await answer)[0];
}

/** Names of temporary files, of all processes. */
function temporaryFiles(): string[] {
  const forms = join(folder, "forms");
  try {
    return readdirSync(forms).flatMap((own) => readdirSync(join(forms, own)).map((name) => `${own}/${name}`));
  } catch {
    return []; // no file was large enough for a folder
  }
}

const head = (name: string) =>
  `--b\r\ncontent-disposition: form-data; name="data"\r\n\r\n` +
  `{"json":{"name":"${name}","args":{"file":null}},"meta":[],"maps":[["args","file"]]}\r\n` +
  `--b\r\ncontent-disposition: form-data; name="0"; filename="f.bin"\r\ncontent-type: application/x-test\r\n\r\n`;

const post = (url: string): ClientRequest =>
  request(`${url}/api/mutation`, {
    method: "POST",
    headers: { "content-type": "multipart/form-data; boundary=b" },
  });

/** Sends a file of random bytes with the given size. @returns the answer, and the hash of the bytes */
async function upload(url: string, name: string, size: number) {
  const sending = post(url);
  const answered = once(sending, "response") as Promise<[IncomingMessage]>;
  const hash = createHash("sha256");
  sending.write(head(name));
  const block = randomBytes(mebibyte);
  for (let left = size, n = 0; left > 0; left -= block.length) {
    block.writeUInt32BE(n++, 0);
    const chunk = Buffer.from(block.subarray(0, Math.min(left, block.length)));
    hash.update(chunk);
    // A refusal comes before the end, and nobody reads the rest.
    if (!sending.write(chunk)) await Promise.race([once(sending, "drain"), answered]);
  }
  sending.end("\r\n--b--\r\n");
  const [response] = await answered;
  return { status: response.statusCode, body: JSON.parse(await text(response)), sha256: hash.digest("hex") };
}

describe("a file of 100 MiB", () => {
  test.for(["child.size", "child.store"])("raises memory by less than 20 MiB: %s", async (name) => {
    const url = await start();
    await upload(url, name, 8 * mebibyte); // what is loaded with the first one
    await told("weigh");
    const { status, body, sha256 } = await upload(url, name, 100 * mebibyte);
    const weight = (await told("weight")) as Record<"arrayBuffers" | "rss", number>;
    if (process.env.WEIGH) console.info(name, weight);
    expect(status).toBe(200);
    if (name === "child.size") expect(body.json).toBe(100 * mebibyte);
    else {
      const [row] = await db.sql("select size::int, sha256 from svc.storage_objects where id = $1", [body.json]);
      expect(row).toEqual({ size: 100 * mebibyte, sha256 });
    }
    expect(weight.arrayBuffers).toBeLessThan(20 * mebibyte);
    expect(weight.rss).toBeLessThan(20 * mebibyte);
    await expect.poll(temporaryFiles).toEqual([]);
  });

  test("reaches the handler with its name, its length and every byte", async () => {
    const { body, sha256 } = await upload(await start(), "child.sum", 100 * mebibyte);
    expect(body.json).toEqual({ size: 100 * mebibyte, name: "f.bin", sha256 });
  });
});

describe("a temporary file", () => {
  test("is gone after the answer, after a form that broke off, and after one that was refused", async () => {
    const url = await start({ multipartBytes: 4 * mebibyte });
    const sending = post(url);
    sending.on("error", () => {}); // it is cut off here
    sending.write(head("child.sum"));
    sending.write(randomBytes(mebibyte));
    await expect.poll(temporaryFiles).toHaveLength(1);
    sending.destroy();
    await expect.poll(temporaryFiles).toEqual([]);

    expect((await upload(url, "child.sum", 5 * mebibyte)).status).toBe(413);
    await expect.poll(temporaryFiles).toEqual([]);
    expect((await upload(url, "child.sum", mebibyte)).status).toBe(200);
    await expect.poll(temporaryFiles).toEqual([]);
  });

  test("of a process that was killed is removed by the next one; that of a process that runs is not", async () => {
    const url = await start();
    const victim = child as ChildProcess;
    const hanging = once(victim, "message");
    upload(url, "child.hang", mebibyte).catch(() => {}); // the process is killed
    expect((await hanging)[0]).toBe("hanging");
    const [file] = temporaryFiles();
    expect(file).toBeDefined();

    await start();
    const second = child as ChildProcess;
    expect((await told("weigh")) as string).toBe("weighing");
    expect(temporaryFiles()).toEqual([file]);

    victim.kill("SIGKILL");
    await once(victim, "exit");
    second.disconnect();
    await once(second, "exit");
    await start();
    await expect.poll(temporaryFiles).toEqual([]);
  });
});
