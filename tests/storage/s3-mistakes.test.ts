/** If this file fails, an operator who has set something wrong for a bucket hears nothing of it, or not what to set. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import { explain } from "../../src/cli/explain.ts";
import { S3Driver, type S3Options } from "../../src/storage/drivers/s3.ts";
import { StoreRefusal } from "../../src/storage/drivers/s3-refusal.ts";
import { describeMissingFolder } from "../../src/storage/missing-folder.ts";
import { database } from "../support/database.ts";

process.env.AWS_ACCESS_KEY_ID ??= "nobody";
process.env.AWS_SECRET_ACCESS_KEY ??= "nothing";

interface Asked {
  method: string | undefined;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A store that gives these answers. @returns its address, and what it was asked */
async function store(answer: (asked: Asked) => [number, string]) {
  const requests: Asked[] = [];
  const server = createServer(async (request, reply) => {
    const { method, url = "", headers } = request;
    const asked = { method, url, headers, body: await text(request) };
    requests.push(asked);
    const [status, body] = answer(asked);
    reply.writeHead(status, { "content-type": "application/xml", etag: '"x"' }).end(body);
  }).listen(0);
  await once(server, "listening");
  onTestFinished(() => void server.close().closeAllConnections());
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

const error = (code: string, more = "") => `<Error><Code>${code}</Code><Message>no</Message>${more}</Error>`;

/** What the operator reads for each request. */
async function refusals(options: S3Options): Promise<string[]> {
  const driver = new S3Driver("files", options);
  const list = async () => {
    for await (const _ of driver.list("objects/")) break;
  };
  const bytes = Buffer.from("x");
  const asked = [driver.put("objects/a", bytes), driver.read("objects/a"), driver.delete("objects/a"), list()];
  const answers = await Promise.allSettled([...asked, driver.compose("objects/a", [{ key: "uploads/a", size: 1 }])]);
  const texts = answers.map((answer) => {
    if (answer.status === "fulfilled") return "nothing";
    expect(answer.reason).toBeInstanceOf(StoreRefusal);
    return answer.reason.message;
  });
  return [...new Set(texts)];
}

describe("a store that refuses says what to set", () => {
  test.each([
    [404, error("NoSuchBucket"), "NoSuchBucket: no", "Create it, or set storage.bucket."],
    [400, error("InvalidBucketName"), "InvalidBucketName", "Create it, or set storage.bucket."],
    [403, error("InvalidAccessKeyId"), "InvalidAccessKeyId", "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"],
    [403, error("SignatureDoesNotMatch"), "SignatureDoesNotMatch", "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"],
    [400, error("ExpiredToken"), "ExpiredToken", "AWS_SESSION_TOKEN if the key is temporary"],
    [403, error("AccessDenied"), "AccessDenied", "Its key needs s3:ListBucket"],
    [403, error("RequestTimeTooSkewed"), "RequestTimeTooSkewed", "Set the clock of this machine"],
    [
      400,
      error("AuthorizationHeaderMalformed", "<Region>eu-west-9</Region>"),
      "",
      "Set storage.region to the region of the bucket, eu-west-9.",
    ],
    [301, error("PermanentRedirect"), "PermanentRedirect", "Set storage.region to the region of the bucket."],
    [403, error("SecondLevelDomainForbidden"), "SecondLevelDomainForbidden", "Set storage.pathStyle to false"],
    [404, "<html>nothing here</html>", "", "No S3 store answers there: set storage.endpoint."],
  ])("%i %s", async (status, body, said, remedy) => {
    const { endpoint } = await store(() => [status, body]);
    const [message, ...others] = await refusals({ endpoint });
    expect(others).toEqual([]);
    expect(message).toContain(`The bucket files of ${endpoint} cannot be used: ${said}`);
    expect(message).toContain(remedy);
  });

  test("https where the store speaks http", async () => {
    const server = createTcpServer((socket) => {
      socket.on("error", () => {}); // the client breaks it
      socket.once("data", () => socket.write("HTTP/1.1 400 Bad Request\r\n\r\n"));
    }).listen(0);
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const endpoint = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const read = new S3Driver("files", { endpoint }).read("objects/a");
    await expect(read).rejects.toThrow("storage.endpoint begins with http:// or https://, as the store speaks.");
  });

  test("without a password of the endpoint", async () => {
    const { endpoint } = await store(() => [404, error("NoSuchBucket")]);
    const [message] = await refusals({ endpoint: endpoint.replace("//", "//user:secret@") });
    expect(message).toContain(`The bucket files of ${endpoint} cannot be used`);
  });
});

test("a file of which something else than a store answers 404 does not count as missing", async () => {
  const missing = await store(() => [404, error("NoSuchKey")]);
  expect(await new S3Driver("files", missing).read("objects/a")).toBeNull();
  const proxy = await store(() => [404, "<html>no such site</html>"]);
  await expect(new S3Driver("files", proxy).read("objects/a")).rejects.toThrow("set storage.endpoint");
});

test("a store, or a proxy before it, that ignores Range is refused: its bytes would be sent as those of the range", async () => {
  const { endpoint } = await store(() => [200, "0123456789"]);
  const driver = new S3Driver("files", { endpoint });
  await expect(driver.read("objects/a", { start: 3, end: 6 })).rejects.toThrow("ignores the header Range");
  expect(String(await driver.readWhole("objects/a"))).toBe("0123456789");
});

test("an upload that breaks says why, also where the store does not remove its parts", async () => {
  // A key without s3:AbortMultipartUpload: a file that was too large was a 500.
  const { endpoint, requests } = await store(({ method, url }) => {
    if (method === "DELETE") return [403, error("AccessDenied")];
    return [200, url.includes("uploads") ? "<R><UploadId>1</UploadId></R>" : ""];
  });
  const tooLarge = async function* () {
    yield Buffer.alloc(11_000_000);
    throw new Error("the file is too large");
  };
  await expect(new S3Driver("files", { endpoint }).put("objects/a", tooLarge())).rejects.toThrow(
    "the file is too large",
  );
  expect(requests.map(({ method }) => method)).toContain("DELETE");
});

test("files are deleted in stores that know Content-MD5 alone", async () => {
  // Swift, Ceph and MinIO of some years refuse a list without it.
  const listed = "<ListBucketResult><Contents><Key>transforms/a</Key></Contents></ListBucketResult>";
  const { endpoint, requests } = await store(({ url, headers }) => {
    if (url.includes("list-type")) return [200, listed];
    return headers["content-md5"] ? [200, "<DeleteResult/>"] : [400, error("InvalidRequest")];
  });
  await new S3Driver("files", { endpoint }).deleteAll("transforms/");
  const [, { body, headers } = { body: "", headers: {} as IncomingHttpHeaders }] = requests;
  expect(body).toContain("<Key>transforms/a</Key>");
  expect(headers["content-md5"]).toBe(createHash("md5").update(body).digest("base64"));
  expect(Object.keys(headers).filter((name) => name.includes("checksum"))).toEqual([]);
});

test("a store that cannot list unfinished uploads is swept without them", async () => {
  const { endpoint } = await store(() => [501, error("NotImplemented")]);
  expect(await new S3Driver("files", { endpoint }).sweepLeftovers(new Date())).toBe(0);
  const busy = await store(() => [503, error("SlowDown")]);
  await expect(new S3Driver("files", busy).sweepLeftovers(new Date())).rejects.toMatchObject({ code: "UNAVAILABLE" });
});

test("the bucket is in the path, or in the host name where a store wants it there", async () => {
  const { endpoint, requests } = await store(() => [204, ""]);
  for (const pathStyle of [undefined, true]) await new S3Driver("files", { endpoint, pathStyle }).delete("objects/a");
  expect(requests.map(({ url }) => url.split("?")[0])).toEqual(["/files/objects/a", "/files/objects/a"]);
  const named = new S3Driver("files", { endpoint: "http://store.invalid", pathStyle: false });
  await expect(named.delete("objects/a")).rejects.toMatchObject({ cause: { hostname: "files.store.invalid" } });
});

test("commands tell of a store that is away or refuses, and not of PostgreSQL", async () => {
  const said = async (endpoint: string) =>
    explain(await new S3Driver("files", { endpoint }).read("objects/a").catch((error) => error), "/nowhere");
  expect(await said("http://127.0.0.1:9")).toBe(
    "The file store cannot be reached.\n  connect ECONNREFUSED 127.0.0.1:9",
  );
  const { endpoint } = await store(() => [404, error("NoSuchBucket")]);
  expect(await said(endpoint)).toMatch(/NoSuchBucket: no\n.*set storage\.bucket/);
});

const db = database();

test("the start and svc doctor tell of a bucket that cannot be used, or that has none of the files", async () => {
  const system = await db.connect("system");
  const missing = async (status: number, body: string, file: [number, string] = [404, error("NoSuchKey")]) => {
    const { endpoint } = await store(({ url }) => (url.includes("list-type") ? [status, body] : file));
    const options = { driver: "s3", bucket: "files", endpoint } as const;
    return describeMissingFolder(options, new S3Driver("files", options), system as never);
  };
  expect(await missing(200, "<ListBucketResult/>")).toBeNull();
  expect(await missing(404, error("NoSuchBucket"))).toContain("set storage.bucket");
  expect(await missing(503, error("SlowDown"))).toBe("The file store cannot be reached.\n  no");
  await db.sql(`insert into svc.storage_objects (id, name, size, type, sha256)
    values (gen_random_uuid(), 'x', 1, 'text/plain', repeat('0', 64))`);
  expect(await missing(200, "<ListBucketResult/>")).toContain(
    "are not in the bucket files: is this the right storage.bucket?",
  );
  expect(await missing(200, "<ListBucketResult/>", [403, error("AccessDenied")])).toContain("s3:GetObject");
});
