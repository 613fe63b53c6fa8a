/** Every driver meets the requirements of storage; and the particularities of each. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { chown, mkdir, readdir, stat, utimes, writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { CreateMultipartUploadCommand, ListMultipartUploadsCommand, S3Client } from "@aws-sdk/client-s3";
import { describe, expect, onTestFinished, test } from "vitest";
import { DiskDriver } from "../../src/storage/drivers/disk.ts";
import { S3Driver } from "../../src/storage/drivers/s3.ts";
import { bytesFolder } from "../support/files.ts";
import { bucket, hasS3Server, s3Server } from "../support/s3-server.ts";
import { driverConformance } from "./driver-conformance.ts";

const folder = bytesFolder();
const disk = new DiskDriver(folder);

driverConformance("the disk driver", () => disk);

const isRoot = process.getuid?.() === 0;

describe("the disk driver, besides,", () => {
  test.skipIf(!isRoot)(
    `as root writes for the owner of the folder${isRoot ? "" : " [skipped: it needs root]"}`,
    async () => {
      // After a restore by root the service could neither read its files nor store new ones.
      const dir = bytesFolder();
      await chown(dir, 12345, 12346);
      const driver = new DiskDriver(dir);
      const part = { key: `uploads/${randomUUID()}/a`, size: 5 };
      const [object, composed] = [`objects/${randomUUID()}`, `objects/${randomUUID()}`];
      await Promise.all([object, part.key, "mark"].map((key) => driver.put(key, Buffer.from("bytes"))));
      await driver.compose(composed, [part]);
      const made = await readdir(dir, { recursive: true });
      expect(made.length).toBeGreaterThan(9);
      for (const name of made)
        expect([name, await stat(join(dir, name))]).toMatchObject([name, { uid: 12345, gid: 12346 }]);
    },
  );

  test("shows nothing of a file that is being written", async () => {
    const key = `objects/${randomUUID()}`;
    const seen: boolean[] = [];
    const source = async function* () {
      yield Buffer.from("half");
      seen.push((await disk.read(key)) !== null);
      yield Buffer.from("whole");
    };
    await disk.put(key, source());
    expect(seen).toEqual([false]);
  });

  test("appends behind the bytes that count, and joins those alone", async () => {
    const [id, other] = [randomUUID(), randomUUID()];
    const part = `uploads/${id}/a`;
    await disk.put(part, one("hello, lost"));
    await disk.append(part, 5, one(" world"));
    expect(String(await disk.readWhole(part))).toBe("hello world");
    const breaks = async function* () {
      yield Buffer.from("!!!");
      throw new Error("the disk is full");
    };
    await expect(disk.append(part, 11, breaks())).rejects.toThrow("the disk is full");
    expect(String(await disk.readWhole(part))).toBe("hello world");
    await disk.put(`uploads/${other}/b`, one("more"));
    const parts = [
      { key: part, size: 5 },
      { key: `uploads/${other}/b`, size: 2 },
    ];
    await disk.compose(`objects/${id}`, parts);
    expect(String(await disk.readWhole(`objects/${id}`))).toBe("hellomo");
    await disk.compose(`objects/${other}`, parts.slice(0, 1));
    expect(String(await disk.readWhole(`objects/${other}`))).toBe("hello");
    await expect(disk.append(`uploads/${other}/none`, 0, one("x"))).rejects.toThrow("ENOENT");
  });

  test("sweeps what a killed process left, once it is old", async () => {
    const incoming = join(folder, "incoming");
    await mkdir(incoming, { recursive: true });
    const [old, young] = [join(incoming, randomUUID()), join(incoming, randomUUID())];
    for (const path of [old, young]) await writeFile(path, "half of a file");
    await utimes(old, new Date(0), new Date(0));
    expect(await disk.sweepLeftovers(new Date(Date.now() - 60_000))).toBe(1);
    expect(await readdir(incoming)).toEqual([young.slice(incoming.length + 1)]);
  });

  test("lets nobody else on the machine read what it wrote", async () => {
    const id = randomUUID();
    await disk.put(`objects/${id}`, one("secret"));
    const { stat } = await import("node:fs/promises");
    const { mode } = await stat(join(folder, "objects", id.slice(0, 2), id));
    expect(mode & 0o077).toBe(0);
  });
});

describe.skipIf(!hasS3Server)("against a store that speaks S3", () => {
  const server = s3Server();
  let driver: S3Driver | undefined;
  const s3 = () => {
    driver ??= new S3Driver(bucket, server);
    return driver;
  };

  driverConformance("the S3 driver", s3);

  test("the S3 driver sweeps uploads in parts that were never finished, once they are old", async () => {
    const client = new S3Client({ endpoint: server.endpoint, region: "us-east-1", forcePathStyle: true });
    const unfinished = async () =>
      (await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }))).Uploads?.length ?? 0;
    await client.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key: `objects/${randomUUID()}` }));
    expect(await unfinished()).toBe(1);
    expect(await s3().sweepLeftovers(new Date(0))).toBe(0);
    // moto reports 2010 as the start of each upload, Swift rounds it up to a second.
    expect(await s3().sweepLeftovers(new Date(Date.now() + 60_000))).toBe(1);
    expect(await unfinished()).toBe(0);
    client.destroy();
  });

  test("the S3 driver joins parts itself where the store cannot copy", async () => {
    // Passes everything through except copies, which it refuses like a store that does not support them.
    let refused = 0;
    const proxy = createServer((asked, answer) => {
      if (asked.headers["x-amz-copy-source"]) {
        refused++;
        return void answer.writeHead(501).end("<Error><Code>NotImplemented</Code></Error>");
      }
      const { method, url, headers } = asked;
      const passed = request(server.endpoint + url, { method, headers }, (got) => {
        answer.writeHead(got.statusCode ?? 500, got.headers);
        got.pipe(answer);
      });
      asked.pipe(passed);
    }).listen(0, "127.0.0.1");
    await once(proxy, "listening");
    const { port } = proxy.address() as AddressInfo;
    const driver = new S3Driver(bucket, { endpoint: `http://127.0.0.1:${port}` });
    const [part, key] = [`uploads/${randomUUID()}/a`, `objects/${randomUUID()}`];
    await driver.put(part, Buffer.from("copied by hand"));
    await driver.compose(key, [{ key: part, size: 14 }]);
    expect(String(await s3().readWhole(key))).toBe("copied by hand");
    expect(refused).toBeGreaterThan(0);
    expect(await s3().sweepLeftovers(new Date())).toBe(0);
    proxy.closeAllConnections();
    proxy.close();
  });

  test("the S3 driver says what is wrong when there is no such bucket", async () => {
    const elsewhere = new S3Driver("no-such-bucket", server);
    await expect(elsewhere.put(`objects/${randomUUID()}`, one("x"))).rejects.toThrow(/bucket/i);
    await expect(elsewhere.read(`objects/${randomUUID()}`)).rejects.toThrow(/bucket/i);
  });
});

process.env.AWS_ACCESS_KEY_ID ??= "nobody";
process.env.AWS_SECRET_ACCESS_KEY ??= "nothing";

test("an S3 store that is away is 503, with a time to come again, whatever is asked of it", async () => {
  // This port of the machine is closed.
  const away = new S3Driver("files", { endpoint: "http://127.0.0.1:9" });
  const key = `objects/${randomUUID()}`;
  const list = async () => {
    for await (const _ of away.list("objects/")) break;
  };
  const asked = [away.put(key, one("x")), away.read(key), away.readWhole(key), away.delete(key), list()];
  const unavailable = { status: "rejected", reason: { code: "UNAVAILABLE", status: 503, retryAfter: 5 } };
  for (const answer of await Promise.allSettled([...asked, away.deleteAll("x/"), away.sweepLeftovers(new Date())]))
    expect(answer).toMatchObject(unavailable);
});

describe("an S3 store that answers with an error", () => {
  /** @param answer status and body, by the query of a request */
  const store = async (answer: (query: string) => [number, string]) => {
    const server = createServer((asked, reply) => {
      const [status, body] = answer(asked.url?.split("?")[1] ?? "");
      asked.resume().on("end", () => reply.writeHead(status, { "content-type": "application/xml" }).end(body));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close().closeAllConnections());
    return new S3Driver("files", { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  };
  const error = (code: string) => `<Error><Code>${code}</Code><Message>not now</Message></Error>`;
  const unavailable = { code: "UNAVAILABLE", status: 503, retryAfter: 5 };

  test("is 503 where it limits requests, or does not know an upload that it has finished", async () => {
    const busy = await store(() => [429, error("TooManyRequests")]);
    await expect(busy.put("objects/a", Buffer.from("x"))).rejects.toMatchObject(unavailable);
    const forgetful = await store(() => [404, error("NoSuchUpload")]);
    await expect(forgetful.compose("objects/a", [{ key: "uploads/a", size: 1 }])).rejects.toMatchObject(unavailable);
  });

  test("does not pretend that it has deleted files which it keeps", async () => {
    const listed = "<ListBucketResult><Contents><Key>transforms/a</Key></Contents></ListBucketResult>";
    const keeps = (code: string) =>
      store((query) => [200, query.includes("list-type") ? listed : `<DeleteResult>${error(code)}</DeleteResult>`]);
    await expect((await keeps("AccessDenied")).deleteAll("transforms/")).rejects.toThrow("not now");
    await expect((await keeps("InternalError")).deleteAll("transforms/")).rejects.toMatchObject(unavailable);
  });
});

describe("an S3 store whose host vanishes", () => {
  /** Keeps its connections open. */
  const store = async (answer: (socket: Socket) => void = () => {}, answerMs = 100) => {
    const server = createTcpServer((socket) => {
      socket.on("error", () => {}); // the client breaks it
      socket.once("data", () => answer(socket));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const patience = { connectMs: 10_000, answerMs, silenceMs: 100, workMs: 100 };
    return new S3Driver("files", { endpoint: `http://127.0.0.1:${port}`, patience });
  };
  const key = `objects/${randomUUID()}`;
  const unavailable = { code: "UNAVAILABLE", status: 503, retryAfter: 5 };
  const begin = (socket: Socket, length: number) =>
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\nhello`);

  test("before it answers is 503, whatever is asked of it", async () => {
    const silent = await store();
    const list = async () => {
      for await (const _ of silent.list("objects/")) break;
    };
    const asked = [silent.put(key, one("x")), silent.read(key), silent.readWhole(key), silent.delete(key), list()];
    const answers = await Promise.allSettled([...asked, silent.deleteAll("x/"), silent.sweepLeftovers(new Date())]);
    for (const answer of answers) expect(answer).toMatchObject({ status: "rejected", reason: unavailable });
  });

  test("in the middle of a file breaks it off", async () => {
    const silent = await store((socket) => begin(socket, 10), 10_000);
    await expect(silent.readWhole(key)).rejects.toMatchObject(unavailable);
  });

  test("is not meant by readers that pause, and many of them keep nobody from reading", async () => {
    const rest = Buffer.alloc(1024 * 1024);
    const patient = await store((socket) => {
      begin(socket, 5 + rest.length);
      socket.write(rest);
    }, 10_000);
    const files = await Promise.all(Array.from({ length: 60 }, () => patient.read(key)));
    await pause(1_000);
    for (const file of files) expect((await buffer(file as Readable)).length).toBe(5 + rest.length);
  });
});

async function* one(text: string) {
  yield Buffer.from(text);
}
