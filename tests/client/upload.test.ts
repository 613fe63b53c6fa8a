/** `client.upload`: a file arrives complete, whatever happens to its connections. */
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createAuthClient, createSvcClient, type UploadOptions } from "../../client/sdk/src/index.ts";
import { api } from "../fixture/web/svc/api.ts";
import { database } from "../support/database.ts";
import { bytesFolder } from "../support/files.ts";
import { FlakyProxy } from "../support/flaky-proxy.ts";
import { apiWith, service } from "../support/service.ts";
import { pattern } from "../support/uploads.ts";

const db = database();
const svc = service(db, apiWith(), {
  storage: { driver: "disk", dir: bytesFolder() },
  uploads: { enabled: true, public: true },
});
let proxy: FlakyProxy;
beforeAll(async () => {
  proxy = await FlakyProxy.start(svc.url);
});
afterAll(() => proxy.stop());

async function connect(fetch?: typeof globalThis.fetch) {
  const auth = createAuthClient(proxy.url, { sessionTokenStorage: "memory" });
  await auth.signUp(`${crypto.randomUUID()}@example.com`, "correct horse", "Ann");
  const upload = (file: Blob, options?: UploadOptions) => client.upload(file, options);
  const client = createSvcClient({ api, baseUrl: proxy.url, auth, ...(fetch && { fetch }) });
  return { client, upload };
}

const bytes = new Uint8Array(pattern(3_000_000));
const file = () => new File([bytes], "naïve.bin", { type: "application/x-test" });
const row = async (id: string) => {
  const [found] = await db.sql(
    "select name, type, size::int, sha256, visibility from svc.storage_objects where id = $1",
    [id],
  );
  return found;
};
const whole = {
  ...{ name: "naïve.bin", type: "application/x-test", size: bytes.length, visibility: "private" },
  sha256: createHash("sha256").update(bytes).digest("hex"),
};

describe("client.upload", () => {
  test("stores a small file by two requests", async () => {
    const methods: (string | undefined)[] = [];
    const { upload } = await connect((input, init) => {
      methods.push(init?.method);
      return fetch(input, init);
    });
    const { id } = await upload(new File(["hello"], "small.txt"));
    expect(methods).toEqual(["POST", "PATCH"]);
    expect(await row(id)).toMatchObject({ size: 5 });
  });

  test("stores a file and says how far it is", async () => {
    const { upload } = await connect();
    const seen: number[] = [];
    let started = "";
    const { id } = await upload(file(), {
      onStart: (id) => {
        started = id;
      },
      onProgress: ({ sent, size }) => {
        expect(size).toBe(bytes.length);
        seen.push(sent);
      },
    });
    expect(started).toBe(id);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect([seen[0], seen.at(-1)]).toEqual([0, bytes.length]);
    expect(seen.length).toBeGreaterThan(3);
    expect(await row(id)).toEqual(whole);
  });

  test("stores an empty file, a Blob, and one with a name and visibility of its own", async () => {
    const { upload } = await connect();
    expect(await row((await upload(new Blob([]))).id)).toMatchObject({ name: "file", size: 0 });
    const { id } = await upload(file(), { name: "b.bin", visibility: "public" });
    expect(await row(id)).toMatchObject({ name: "b.bin", visibility: "public" });
  });

  test("goes on after every connection was cut, again and again", async () => {
    const { upload } = await connect();
    let cuts = 0;
    const { id } = await upload(file(), {
      onProgress: ({ sent }) => {
        if (sent > 0 && cuts++ < 3) setImmediate(() => proxy.breakAll());
      },
    });
    expect(cuts).toBeGreaterThanOrEqual(3);
    expect(await row(id)).toEqual(whole);
  });

  test("goes on when the answer to a piece, the last one too, is lost", async () => {
    let answers = 0;
    const { upload } = await connect(async (input, init) => {
      const response = await globalThis.fetch(input, init);
      if (init?.method === "PATCH" && answers++ % 2 === 0) throw new TypeError("the answer is lost");
      return response;
    });
    const { id } = await upload(file());
    expect(answers).toBeGreaterThan(3);
    expect(await row(id)).toEqual(whole);
    answers = 0;
    expect(await row((await upload(new File(["one piece"], "a"))).id)).toMatchObject({ size: 9 });
    expect(answers).toBe(1);
  });

  test("takes a proxy's page for no answer, also with status 200", async () => {
    let pages = 0;
    const { upload } = await connect(async (input, init) => {
      const isPage = pages < 4 && (init?.method === "PATCH" || (pages > 0 && init?.method === "HEAD"));
      if (!isPage) return globalThis.fetch(input, init);
      pages++;
      return new Response("<p>Sign in to the Wi-Fi</p>", { headers: { "content-type": "text/html" } });
    });
    await expect(upload(file(), { retries: 2 })).rejects.toMatchObject({ code: "INVALID_ANSWER" });
    expect(await row((await upload(file(), { retries: 2 })).id)).toEqual(whole);
  });

  test("ends with its signal's reason, and goes on later with its id, sending only the rest", async () => {
    const { upload } = await connect();
    const controller = new AbortController();
    let id = "";
    const first = upload(file(), {
      signal: controller.signal,
      onStart: (started) => {
        id = started;
      },
      onProgress: ({ sent }) => sent > 0 && controller.abort(new Error("paused")),
    });
    await expect(first).rejects.toThrow("paused");
    expect(await row(id)).toBeUndefined();
    const seen: number[] = [];
    await upload(file(), { id, onProgress: ({ sent }) => seen.push(sent) });
    expect(seen[0]).toBeGreaterThan(0);
    expect(await row(id)).toEqual(whole);
  });

  test("does not go on with another file, or an upload that is not the user's", async () => {
    const { upload, client } = await connect();
    const { upload: others } = await connect();
    let id = "";
    const controller = new AbortController();
    await upload(file(), {
      signal: controller.signal,
      onStart: (started) => {
        id = started;
        controller.abort(new Error("later"));
      },
    }).catch(() => {});
    await expect(upload(new Blob(["short"]), { id })).rejects.toMatchObject({ code: "BAD_REQUEST" });
    await expect(others(file(), { id })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await client.cancelUpload(id);
    await expect(upload(file(), { id })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await client.cancelUpload(id);
  });

  test("says what it takes, where it is given a text, bytes or nothing", async () => {
    const { client } = await connect();
    const wrong: [unknown, string][] = [
      ["text", "String"],
      [new Uint8Array(3), "Uint8Array"],
      [new FormData(), "FormData"],
      [null, "null"],
      [undefined, "undefined"],
    ];
    for (const [given, what] of wrong) {
      const error = await client.upload(given as Blob).catch((error: unknown) => error);
      expect(error).toBeInstanceOf(TypeError);
      expect(String(error)).toContain(`takes a File or a Blob, and got ${what}. Make one`);
    }
  });
});
