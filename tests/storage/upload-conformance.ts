/** Uploads in parts with any store, as a tus client sends them. Each store has a test file that calls this. */
import { createHash } from "node:crypto";
import { connect } from "node:net";
import type pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import type { EffectiveConfig } from "../../src/config/config.ts";
import type { StorageDriver } from "../../src/storage/drivers/driver.ts";
import { createDriver } from "../../src/storage/storage.ts";
import { database } from "../support/database.ts";
import { fileProcedures } from "../support/files.ts";
import { apiWith, bearer, service, type User } from "../support/service.ts";
import { begun, broken, collection, create, head, offsetOf, patch, pattern, tus } from "../support/uploads.ts";

/** @param storage read when the service starts; `beforeAll` may set its members until then */
export function uploadConformance(storage: EffectiveConfig["storage"]): void {
  const db = database();
  const limits = { uploadBytes: 40_000_000, uploadsPerUser: 4 };
  const config = { storage, uploads: { enabled: true, public: true }, limits };
  const svc = service(db, apiWith({ procedures: fileProcedures }), config);
  let driver: StorageDriver;
  let pool: pg.Pool;
  let ann: User;
  let bob: User;

  beforeAll(async () => {
    driver = createDriver(storage);
    pool = db.pool("system");
    ann = await svc.signUp("ann");
    bob = await svc.signUp("bob");
  });

  const gone = {
    status: 404,
    body: { code: "NOT_FOUND", error: "The received bytes of this upload are gone.", hint: "Begin it again." },
  };
  const remove = (user: User | null, id: string) =>
    svc.fetch(`${collection}/${id}`, { method: "DELETE", headers: { ...tus, ...bearer(user) } });
  const text = async (id: string) => (await svc.query(ann, "files.read", { id })).body.json;
  const meta = async (user: User, id: string) => svc.query(user, "files.meta", { id });

  describe("creation", () => {
    test("answers with the place to send to, which names the stored object too", async () => {
      const answer = await create(svc, ann, 5, { filename: "née.txt", filetype: "Text/Plain; charset=utf-8" });
      expect(answer.status).toBe(201);
      expect(answer.headers.get("tus-resumable")).toBe("1.0.0");
      expect(Date.parse(answer.headers.get("upload-expires") ?? "")).toBeGreaterThan(Date.now());
      const id = answer.headers.get("location")?.slice(collection.length + 1) ?? "";
      const done = await patch(svc, ann, id, 0, "hello");
      expect([done.status, done.headers.get("upload-offset")]).toEqual([204, "5"]);
      expect((await meta(ann, id)).body.json).toEqual({
        ...{ id, name: "née.txt", size: 5, type: "text/plain", visibility: "private" },
      });
      expect(await text(id)).toBe("hello");
    });

    test("needs a user, a whole length, a visibility there is, and the protocol's version", async () => {
      expect((await create(svc, null, 5)).status).toBe(401);
      for (const size of ["", "-1", "1.5", "1e3", "9".repeat(16)])
        expect((await create(svc, ann, size)).status).toBe(400);
      expect((await create(svc, ann, 5, { visibility: "secret" })).status).toBe(400);
      expect((await create(svc, ann, limits.uploadBytes + 1)).status).toBe(413);
      const headers = { ...bearer(ann), "upload-length": "5" };
      const { status, headers: answered } = await svc.fetch(collection, { method: "POST", headers });
      expect([status, answered.get("tus-version")]).toEqual([412, "1.0.0"]);
    });

    test("stores an empty file at once, under a name that was cleaned", async () => {
      const id = await begun(svc, ann, 0, { filename: "../../\u0000etc/pass\u202ewd", filetype: "nonsense" });
      expect((await meta(ann, id)).body.json).toMatchObject({
        name: "passwd",
        size: 0,
        type: "application/octet-stream",
      });
      expect(await offsetOf(svc, ann, id)).toBe(0);
    });

    test("refuses metadata of more than 8 KiB", async () => {
      expect((await create(svc, ann, 5, { filename: "x".repeat(4000) })).status).toBe(201);
      expect((await create(svc, ann, 5, { filename: "x".repeat(8000) })).status).toBe(400);
    });

    test("is refused while too many are unfinished, however many begin at once", async () => {
      const cat = await svc.signUp("cat");
      const begins = await Promise.all(Array.from({ length: 12 }, () => create(svc, cat, 5)));
      expect(begins.filter(({ status }) => status === 201)).toHaveLength(limits.uploadsPerUser);
      expect(begins.filter(({ status }) => status === 429)).toHaveLength(12 - limits.uploadsPerUser);
      const id =
        begins
          .find(({ status }) => status === 201)
          ?.headers.get("location")
          ?.slice(collection.length + 1) ?? "";
      expect((await remove(cat, id)).status).toBe(204);
      expect((await create(svc, cat, 5)).status).toBe(201);
    });
  });

  describe("sending", () => {
    test("goes on where the service says, in parts of any size, and the bytes are the same", async () => {
      const bytes = pattern(20_000_000); // one request stores it in two parts
      const id = await begun(svc, bob, bytes.length, { filename: "large.bin", visibility: "public" });
      const cuts = [0, 1, 70_000, 19_999_999, bytes.length];
      for (const [index, start] of cuts.slice(0, -1).entries()) {
        expect(await offsetOf(svc, bob, id)).toBe(start);
        expect((await patch(svc, bob, id, start, Uint8Array.from(bytes.subarray(start, cuts[index + 1])))).status).toBe(
          204,
        );
      }
      const response = await fetch(`${svc.url}/api/storage/${id}`);
      expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
      const [row] = await db.sql("select sha256, name from svc.storage_objects where id = $1", [id]);
      expect(row).toEqual({ sha256: createHash("sha256").update(bytes).digest("hex"), name: "large.bin" });
    });

    test("elsewhere is a conflict, and says where", async () => {
      const id = await begun(svc, bob, 10);
      await patch(svc, bob, id, 0, "hello");
      for (const offset of [0, 4, 6]) {
        const { status, body } = await patch(svc, bob, id, offset, "xxxx");
        expect([status, body.error]).toEqual([409, "The upload continues at byte 5."]);
      }
      expect((await patch(svc, bob, id, 5, "world")).status).toBe(204);
      expect((await svc.query(bob, "files.read", { id })).body.json).toBe("helloworld");
    });

    test("the same part twenty times at once counts once", async () => {
      const id = await begun(svc, ann, 10);
      const answers = await Promise.all(Array.from({ length: 20 }, () => patch(svc, ann, id, 0, "hello")));
      expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 409)).toHaveLength(19);
      const lasts = await Promise.all(Array.from({ length: 20 }, () => patch(svc, ann, id, 5, "world")));
      expect(lasts.filter(({ status }) => status === 204)).toHaveLength(1);
      expect(await text(id)).toBe("helloworld");
      expect(await broken(driver, pool)).toEqual([]);
    });

    test("the whole file twenty times at once counts once", async () => {
      const id = await begun(svc, ann, 5);
      const answers = await Promise.all(Array.from({ length: 20 }, () => patch(svc, ann, id, 0, "hello")));
      expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 409)).toHaveLength(19);
      expect(await text(id)).toBe("hello");
      expect(await broken(driver, pool)).toEqual([]);
    });

    test("more than was announced is refused, with and without a length of its own", async () => {
      const id = await begun(svc, ann, 5);
      expect((await patch(svc, ann, id, 0, "hello!")).status).toBe(413);
      expect((await patch(svc, ann, id, 0, new Blob(["hel", "lo!"]).stream())).status).toBe(413);
      expect(await offsetOf(svc, ann, id)).toBe(0);
      expect((await patch(svc, ann, id, 0, "hello")).status).toBe(204);
      expect((await patch(svc, ann, id, 5, "!")).status).toBe(413);
      expect(await text(id)).toBe("hello");
    });

    test("refused in the middle of a large body, leaves the connection to the next request", async () => {
      const id = await begun(svc, ann, 5);
      const socket = connect(Number(new URL(svc.url).port), "127.0.0.1");
      const head = (method: string, more: string[]) =>
        [
          `${method} ${collection}/${id} HTTP/1.1`,
          "Host: localhost",
          `Authorization: Bearer ${ann.token}`,
          "Tus-Resumable: 1.0.0",
          ...more,
          "",
          "",
        ].join("\r\n");
      const type = "Content-Type: application/offset+octet-stream";
      socket.write(head("PATCH", [type, "Upload-Offset: 0", "Content-Length: 5000000"]) + "x".repeat(5_000_000));
      socket.write(head("HEAD", ["Connection: close"]));
      let answers = "";
      for await (const chunk of socket) answers += chunk;
      expect(answers.match(/HTTP\/1.1 \d+/g)).toEqual(["HTTP/1.1 413", "HTTP/1.1 200"]);
      expect((await remove(ann, id)).status).toBe(204);
    });

    test("takes the protocol's content type and a whole offset alone", async () => {
      const id = await begun(svc, ann, 5);
      const plain = await patch(svc, ann, id, 0, "hello", { "content-type": "text/plain" });
      expect([plain.status, plain.body.hint]).toEqual([415, "Send application/offset+octet-stream."]);
      for (const offset of ["", "-1", "x"]) expect((await patch(svc, ann, id, offset, "hello")).status).toBe(400);
      expect((await remove(ann, id)).status).toBe(204);
    });

    test("keeps nothing of a part whose checksum differs", async () => {
      const id = await begun(svc, ann, 5);
      const sum = (algorithm: string, of: string) =>
        `${algorithm} ${createHash(algorithm).update(of).digest("base64")}`;
      const { status, body } = await patch(svc, ann, id, 0, "hellO", { "upload-checksum": sum("sha1", "hello") });
      expect([status, body.code]).toEqual([460, "CHECKSUM_MISMATCH"]);
      expect((await patch(svc, ann, id, 0, "hello", { "upload-checksum": "md5 xyz" })).status).toBe(400);
      expect(await offsetOf(svc, ann, id)).toBe(0);
      expect((await patch(svc, ann, id, 0, "he", { "upload-checksum": sum("sha256", "he") })).status).toBe(204);
      expect((await patch(svc, ann, id, 2, "llo", { "upload-checksum": sum("sha1", "llo") })).status).toBe(204);
      expect(await text(id)).toBe("hello");
    });

    test("puts nothing together of a part that was damaged where it lies", async () => {
      const id = await begun(svc, ann, 10);
      await patch(svc, ann, id, 0, "hello");
      for await (const { key } of driver.list(`uploads/${id}/`)) await driver.put(key, Buffer.from("jello"));
      expect(await patch(svc, ann, id, 5, "world")).toMatchObject(gone);
      expect((await meta(ann, id)).status).toBe(404);
      expect((await remove(ann, id)).status).toBe(404);
      expect(await broken(driver, pool)).toEqual([]);
    });

    test("tells the sender to begin again, and frees the room, when the bytes of an upload are gone", async () => {
      // As after a restore of the database to a time at which a finished upload was under way.
      const lost = async () => {
        const id = await begun(svc, ann, 10);
        await patch(svc, ann, id, 0, "hello");
        await driver.deleteAll(`uploads/${id}/`);
        return id;
      };
      const [asked, continued] = [await lost(), await lost()];
      expect((await head(svc, ann, asked)).status).toBe(404);
      expect(await patch(svc, ann, continued, 5, "world")).toMatchObject(gone);
      expect(await db.sql("select from svc.storage_uploads where id in ($1, $2)", [asked, continued])).toEqual([]);
      expect(await broken(driver, pool)).toEqual([]);
    });
  });

  describe("somebody else's upload", () => {
    test("is one that does not exist, whatever is asked of it", async () => {
      const id = await begun(svc, ann, 5);
      const none = crypto.randomUUID();
      for (const each of [id, none]) {
        expect((await head(svc, bob, each)).status).toBe(404);
        expect((await patch(svc, bob, each, 0, "hello")).body.error).toMatch(/^This upload does not exist/);
        expect((await remove(bob, each)).status).toBe(404);
        expect((await head(svc, null, each)).status).toBe(401);
      }
      expect((await patch(svc, ann, id, 0, "hello")).status).toBe(204);
      expect((await head(svc, bob, id)).status).toBe(404);
    });

    test("cannot be seen or changed by a call's database either", async () => {
      const id = await begun(svc, ann, 5);
      const client = await db.connect("request");
      await client.query("begin; set local role svc_authenticated");
      await expect(client.query("select * from svc.storage_uploads")).rejects.toMatchObject({ code: "42501" });
      await client.query("rollback");
      expect((await remove(ann, id)).status).toBe(204);
    });
  });

  describe("an end", () => {
    test("deleting an upload removes its bytes, and it is unknown then", async () => {
      const id = await begun(svc, ann, 10);
      await patch(svc, ann, id, 0, "hello");
      expect((await remove(ann, id)).status).toBe(204);
      const left = [];
      for await (const { key } of driver.list(`uploads/${id}/`)) left.push(key);
      expect(left).toEqual([]);
      expect((await remove(ann, id)).status).toBe(404);
      expect((await patch(svc, ann, id, 5, "world")).status).toBe(404);
    });

    test("what is finished says so, and leaves no parts", async () => {
      const id = await begun(svc, ann, 5);
      await patch(svc, ann, id, 0, "hello");
      const { status, headers } = await head(svc, ann, id);
      expect([status, headers.get("upload-offset"), headers.get("upload-length")]).toEqual([200, "5", "5"]);
      expect((await remove(ann, id)).status).toBe(404);
      const left = [];
      for await (const { key } of driver.list(`uploads/${id}/`)) left.push(key);
      expect(left).toEqual([]);
    });

    test("what expired is unknown, and swept; a part that arrives moves the end on", async () => {
      const cat = await svc.signUp("cat");
      const id = await begun(svc, cat, 10);
      const hours = async () => {
        const left = "round(extract(epoch from expires_at - now()) / 3600)::int";
        return (await db.sql(`select ${left} as left from svc.storage_uploads where id = $1`, [id]))[0]?.left;
      };
      expect(await hours()).toBe(6);
      await patch(svc, cat, id, 0, "hello");
      expect(await hours()).toBe(24);
      await db.sql("update svc.storage_uploads set expires_at = now() - interval '1 second' where id = $1", [id]);
      expect((await remove(cat, id)).status).toBe(404);
      expect((await head(svc, cat, id)).status).toBe(404);
      expect((await patch(svc, cat, id, 5, "world")).status).toBe(404);
      expect(await broken(driver, pool)).toEqual([]);
      expect(await db.sql("select 1 from svc.storage_uploads where id = $1", [id])).toEqual([]);
    });

    test("with its user's account go the uploads, and their bytes with the next sweep", async () => {
      const dan = await svc.signUp("dan");
      const id = await begun(svc, dan, 10);
      await patch(svc, dan, id, 0, "hello");
      await db.sql(`delete from auth."user" where id = $1`, [dan.id]);
      expect(await broken(driver, pool)).toEqual([]);
      const left = [];
      for await (const { key } of driver.list(`uploads/${id}/`)) left.push(key);
      expect(left).toEqual([]);
    });
  });
}
