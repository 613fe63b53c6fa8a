/** The protocol of uploads in parts: tus, between pages of listed origins and the service. */
import { beforeAll, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { bytesFolder } from "../support/files.ts";
import { apiWith, bearer, service, type User } from "../support/service.ts";
import { begun, collection, create, head, metadata, patch, tus } from "../support/uploads.ts";

const svc = service(database(), apiWith(), {
  storage: { driver: "disk", dir: bytesFolder() },
  limits: { uploadBytes: 40_000_000 },
  frontendOrigins: ["https://app.example.com"],
});
let ann: User;
beforeAll(async () => {
  ann = await svc.signUp("ann");
});

const patchTo = (id: string, headers: Record<string, string>) => patch(svc, ann, id, 0, "hello", headers);

describe("the protocol", () => {
  test("says what it can do, and lets POST stand for other methods", async () => {
    const { status, headers } = await svc.fetch(collection, { method: "OPTIONS" });
    expect([status, headers.get("tus-version"), headers.get("tus-max-size")]).toEqual([204, "1.0.0", "40000000"]);
    expect(headers.get("tus-extension")).toBe("creation,expiration,checksum,termination");
    const id = await begun(svc, ann, 5);
    const override = { "x-http-method-override": "PATCH", "content-type": "application/offset+octet-stream" };
    const sent = await svc.fetch(`${collection}/${id}`, {
      method: "POST",
      headers: { ...tus, ...bearer(ann), ...override, "upload-offset": "0" },
      body: "hello",
    });
    expect(sent.status).toBe(204);
  });

  test("HEAD gives the metadata back, also once the file is stored", async () => {
    const values = { filename: "größe, 1.txt", filetype: "text/plain", visibility: "private" };
    const id = await begun(svc, ann, 5, values);
    const told = async () => (await head(svc, ann, id)).headers.get("upload-metadata");
    expect(await told()).toBe(metadata(values));
    await patchTo(id, {});
    expect(await told()).toBe(metadata(values));
    const bob = await head(svc, await svc.signUp("bob"), id);
    expect([bob.status, bob.headers.get("upload-metadata")]).toEqual([404, null]);
  });

  const unsupported: [string, Record<string, string>][] = [
    ["concatenation", { "upload-concat": "partial" }],
    ["concatenation", { "upload-concat": "final;/api/storage/uploads/a /api/storage/uploads/b" }],
    ["creation-defer-length", { "upload-defer-length": "1" }],
    ["creation-with-upload", { "content-type": "application/offset+octet-stream" }],
  ];
  test.each(unsupported)("refuses the extension %s, and says what there is: %j", async (extension, more) => {
    const headers = { ...tus, ...bearer(ann), "upload-length": "5", ...more };
    const answer = await svc.fetch(collection, { method: "POST", headers });
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(extension)]);
    expect(answer.headers.get("tus-extension")).toBe("creation,expiration,checksum,termination");
    expect(answer.headers.get("location")).toBeNull();
  });

  test("refuses a visibility that there is not", async () => {
    const { status, body } = await create(svc, ann, 5, { visibility: "all" });
    expect([status, body.error]).toEqual([400, expect.stringContaining('"private" or "public"')]);
  });

  test("refuses a checksum that is to come behind the body", async () => {
    const id = await begun(svc, ann, 5);
    const type = { "content-type": "application/offset+octet-stream", trailer: "Upload-Checksum" };
    const { status, body } = await patchTo(id, type);
    expect([status, body.error]).toEqual([400, expect.stringContaining("checksum-trailer")]);
  });

  test("lets pages of listed origins read its headers, and nobody write by cookie from elsewhere", async () => {
    const origin = "https://app.example.com";
    const preflight = await svc.fetch(`${collection}/x`, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "PATCH", "access-control-request-headers": "upload-offset" },
    });
    expect(preflight.headers.get("access-control-allow-methods")).toContain("PATCH");
    const answer = await svc.fetch(collection, { method: "OPTIONS", headers: { origin } });
    for (const name of ["upload-offset", "upload-metadata"]) {
      expect(answer.headers.get("access-control-expose-headers")).toContain(name);
    }
    const signUp = await svc.fetch("/api/auth/sign-up/email", {
      method: "POST",
      headers: { origin, "content-type": "application/json" },
      body: JSON.stringify({ email: "eve@example.com", password: "correct horse", name: "eve" }),
    });
    const cookie = signUp.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const headers = { ...tus, cookie, "upload-length": "5", "upload-metadata": metadata({}) };
    const foreign = await svc.fetch(collection, {
      method: "POST",
      headers: { ...headers, origin: "https://evil.test" },
    });
    expect(foreign.status).toBe(403);
    expect((await svc.fetch(collection, { method: "POST", headers: { ...headers, origin } })).status).toBe(201);
  });

  test("has nothing at other paths and for other methods", async () => {
    for (const [method, path, expected] of [
      ["GET", collection, 405],
      ["PUT", collection, 405],
      ["PATCH", collection, 405],
      ["GET", `${collection}/${crypto.randomUUID()}`, 405],
      ["POST", `${collection}/x`, 404],
      ["PATCH", `${collection}/x/y`, 404],
    ] as const) {
      const { status } = await svc.fetch(path, { method, headers: { ...tus, ...bearer(ann) } });
      expect([method, path, status]).toEqual([method, path, expected]);
    }
  });
});
