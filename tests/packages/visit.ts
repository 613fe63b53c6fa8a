/** A visit of an application that runs. */
import { spawn } from "node:child_process";
import { expect } from "vitest";

/** Runs `npm start` during the visit. */
export async function serving(cwd: string, environment: NodeJS.ProcessEnv, visitAt: (url: string) => Promise<void>) {
  const server = spawn("npm", ["start"], { cwd, env: environment, detached: true });
  try {
    let output = "";
    for (const stream of [server.stdout, server.stderr]) stream.on("data", (chunk) => (output += chunk));
    const ready = () => /Ready: (\S+)/.exec(output)?.[1] ?? output;
    await expect.poll(ready).toMatch(/^http/);
    await visitAt(ready());
  } finally {
    process.kill(-(server.pid ?? 0));
  }
}

/** A client that only knows the application by its api.ts. */
export const visit = `
import { createAuthClient, createSvcClient } from "@svc/client";
import { api } from "./web/svc/api.ts";

const baseUrl = process.argv[2] ?? "";
const auth = createAuthClient(baseUrl);
const client = createSvcClient({ api, baseUrl, auth });
await auth.signUp("visitor@example.com", "correct horse", "Visitor");
const { id } = await client.mutate(api.notes.create, { text: "first" });
const note = await client.mutate(api.notes.update, { id, done: true });
const { removed } = await client.mutate(api.notes.clearDone);
if (!(note.createdAt instanceof Date)) throw new TypeError("createdAt is no Date");
console.log(\`visited: \${note.text}, \${note.done ? "done" : "open"}; removed \${removed}\`);
`;
