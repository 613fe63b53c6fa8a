import { createAuthClient, createSvcClient } from "@svc/client";
import { api } from "./svc/api.ts";

const baseUrl = process.argv[2] ?? "";
const auth = createAuthClient(baseUrl);
const client = createSvcClient({ api, baseUrl, auth });
const user = await auth.signUp("ann@example.com", "correct horse", "Ann");
const task = await client.mutate(api.tasks.create, { title: "  Write docs " });
const page = await client.query(api.tasks.list, { limit: 5, filters: { done: false } });
const { open } = await client.query(api.tasks.openCount, {});
const file = new File(["hello"], "a.txt");
const { storageId } = await client.mutate(api.tasks.attach, { id: task.id, file });
const isStored = /^[0-9a-f-]{36}$/.test(storageId);
const embedding = Array.from({ length: 384 }, () => 0.5);
await client.mutate(api.articles.create, { title: "Rivers", body: "They flow to the sea.", embedding });
const found = await client.query(api.articles.find, { words: "river" });
const { id } = await client.mutate(api.tasks.expense);
await client.mutate(api.workflows.signal, { id, event: "approval", payload: { approved: true } });
const { name: run } = await client.query(api.workflows.get, { id });
const heard = await new Promise((resolve) => {
  const stop = client.watch(api.tasks.list, {}, ({ total }) => {
    if (total < 2) return;
    stop();
    resolve(total);
  });
  void client.mutate(api.tasks.create, { title: "Heard" });
});
const entry = await createSvcClient({ api, baseUrl }).mutate(api.guestbook.create, { message: "hi" });
const { hello } = (await (await client.fetch("/api/hello/ann")).json()) as { hello: string };
const title = page.data[0]?.title;
console.log(
  JSON.stringify({ name: user.name, title, open, isStored, found, run, heard, message: entry.message, hello }),
);
client.close();
