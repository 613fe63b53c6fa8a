import { createAuthClient, createSvcClient } from "@svc/client";
import { api } from "./svc/api.ts";

const baseUrl = process.argv[2] ?? "";
const auth = createAuthClient(baseUrl);
const client = createSvcClient({ api, baseUrl, auth });
const user = await auth.signUp("ann@example.com", "correct horse", "Ann");
const task = await client.mutate(api.tasks.create, { title: "  Write docs " });
const page = await client.query(api.tasks.list, { limit: 5, filters: { done: false } });
const { open } = await client.query(api.tasks.openCount, {});
const { size } = await client.mutate(api.tasks.attach, { id: task.id, file: new File(["hello"], "a.txt") });
await client.mutate(api.articles.create, { title: "t", body: "b", embedding: Array.from({ length: 384 }, () => 0.5) });
const entry = await createSvcClient({ api, baseUrl }).mutate(api.guestbook.create, { message: "hi" });
const { hello } = (await (await client.fetch("/api/hello/ann")).json()) as { hello: string };
console.log(JSON.stringify({ name: user.name, title: page.data[0]?.title, open, size, message: entry.message, hello }));
