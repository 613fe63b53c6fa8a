// If this file fails, a procedure called by its path, as clients generated from /openapi.json do, answers differently
// from a call by name, or a path reaches an internal procedure.
import { expect, test } from "vitest";
import { procedure } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { apiWith, bearer, service } from "../support/service.ts";

const echo = ({ input }: { input: unknown }) => input;
const procedures = {
  ask: procedure.query.name("paths.ask").allowAnonymous().handler(echo),
  tell: procedure.mutation.name("paths.tell").allowAnonymous().handler(echo),
  size: procedure.mutation
    .name("paths.size")
    .allowAnonymous()
    .handler(({ input }) => (input as { file: Blob }).file.size),
  hidden: procedure.internal.name("paths.hidden").handler(echo),
};
const db = database();
const svc = service(db, apiWith({ procedures }));

test("a procedure's own path takes the body without its name, plain or encoded", async () => {
  expect(await svc.post("/api/query/paths.ask", { args: { a: 1 } })).toMatchObject({
    status: 200,
    body: { json: { a: 1 } },
  });
  const encoded = { json: "2026-01-02T03:04:05.000Z", meta: [[1]] };
  expect((await svc.post("/api/mutation/paths.tell", { args: encoded })).body).toEqual(encoded);
  expect((await svc.post("/api/query/paths.ask", { args: 1, watch: true })).body).toHaveProperty("snapshot");
});

test("a file arrives there too", async () => {
  const body = new FormData();
  body.set("data", JSON.stringify({ json: { args: { file: null } }, maps: [["args", "file"]] }));
  body.set("0", new File(["four"], "x.txt"));
  expect(await svc.fetch("/api/mutation/paths.size", { method: "POST", body })).toMatchObject({ body: { json: 4 } });
});

test("the path decides, and not a name in the body", async () => {
  const answer = await svc.post("/api/query/paths.ask", { name: "notes.list", args: 7 });
  expect(answer).toMatchObject({ status: 200, body: { json: 7 } });
});

test("it asks for a session where the call by name does, and answers the same", async () => {
  expect((await svc.post("/api/query/notes.list", {})).status).toBe(401);
  const ann = await svc.signUp("ann");
  await svc.mutate(ann, "notes.create", { title: "mine" });
  const byName = await svc.query(ann, "notes.list");
  const init = { method: "POST", headers: { "content-type": "application/json", ...bearer(ann) }, body: "{}" };
  const byPath = await svc.fetch("/api/query/notes.list", init);
  expect(byPath.body).toEqual(byName.body);
  expect(byPath.body.json.total).toBe(1);
});

test("internal procedures, unknown names and the other kind are paths that do not exist", async () => {
  const forms = new Set<string>();
  for (const path of ["/api/mutation/paths.hidden", "/api/mutation/paths.nobody", "/api/mutation/paths.ask"]) {
    const { status, body } = await svc.post(path, { args: 1 });
    expect(status).toBe(404);
    forms.add(JSON.stringify({ ...body, requestId: "", error: body.error.replace(path, "") }));
  }
  expect(forms.size).toBe(1);
});

test("a body that is no object is refused with what is to be sent", async () => {
  const { status, body } = await svc.post("/api/query/paths.ask", [1]);
  expect([status, body.code, body.error]).toEqual([400, "VALIDATION_FAILED", 'Send { "args": … }.']);
});

test("the log names the operation of a call that ends before its body is read, as all do while the database is away", async () => {
  const operationOf = async (path: string) => {
    const headers = { "x-request-id": crypto.randomUUID(), "idempotency-key": "1" }; // without a session
    expect((await svc.fetch(path, { method: "POST", headers })).status).toBe(401);
    const line = () => svc.logged.find((text) => text.includes(headers["x-request-id"]));
    await expect.poll(line).toBeDefined();
    return JSON.parse(line() ?? "").operation;
  };
  expect(await operationOf("/api/mutation/paths.tell")).toBe("paths.tell");
  expect(await operationOf("/api/mutation")).toBe("/api/mutation");
});
