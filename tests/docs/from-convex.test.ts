// If this file fails, an application that moves from Convex by docs/how-to/from-convex.md loses likes or previews, or lets
// users change the messages of others.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { svcHere } from "../support/cli.ts";
import { testServer } from "../support/test-server.ts";
import { documented } from "./documented.ts";

const { db, folder, person, call, startWorker } = documented("docs/how-to/from-convex.md");

let asked = 0;
let previews: Server;
beforeAll(async () => {
  previews = createServer((_, answer) => {
    answer.statusCode = ++asked > 1 ? 200 : 500;
    answer.end("A preview");
  });
  await new Promise<void>((listens) => previews.listen(0, "127.0.0.1", listens));
  process.env.PREVIEW_URL = `http://127.0.0.1:${(previews.address() as AddressInfo).port}`;
});
afterAll(() => {
  delete process.env.PREVIEW_URL;
  previews.close();
});

test("messages are sent, liked by their authors alone, and get a preview at the second attempt", async () => {
  const [ann, bob] = await Promise.all([person("ann"), person("bob")]);
  const sent = await call("mutation", ann.token, "messages.send", { body: "Hello" });
  expect(sent.status, JSON.stringify(sent.body)).toBe(200);
  const id = sent.body.json;

  const likes = await Promise.all([1, 2, 3].map(() => call("mutation", ann.token, "messages.like", { id })));
  expect(likes.map(({ body }) => body.json.likes).sort()).toEqual([1, 2, 3]);
  expect((await call("mutation", bob.token, "messages.like", { id })).status).toBe(404);
  const stolen = await call("mutation", bob.token, "messages.send", { body: "x", fileId: crypto.randomUUID() });
  expect(stolen.status).toBe(404);

  await startWorker();
  const preview = async () => (await call("query", bob.token, "messages.get", { id })).body.json.preview;
  await expect.poll(preview, { timeout: 40_000 }).toBe("A preview");
  expect(asked).toBe(2);
});

test("the page's own test passes, without a browser", async () => {
  testServer(db);
  const child = spawn(process.execPath, ["--test", "tests/messages.test.ts"], { cwd: folder });
  const [out, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  expect(code, out).toBe(0);
  expect(out).toContain("pass 1");
});

test("rows that were exported as JSON lines are imported as their owner", async () => {
  const { user } = await person("cleo");
  const file = join(folder, "cleo.ndjson");
  await writeFile(file, '{"body":"Old","likes":3}\n{"body":"Older","likes":0}\n');
  const imported = await svcHere(db, folder, ["data", "import", "messages", file, "--as", "cleo@example.com"]);
  expect(imported.code, imported.text).toBe(0);
  expect(await db.sql("select body, likes from messages where user_id = $1 order by id", [user.id])).toEqual([
    { body: "Old", likes: 3 },
    { body: "Older", likes: 0 },
  ]);
});
