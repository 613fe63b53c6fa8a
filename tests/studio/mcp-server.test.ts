// If this file fails, a coding agent gets the result of another command, a secret in an error, or no remedy.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { expect, test } from "vitest";
import { DefinitionError } from "../../src/kit/definition-error.ts";
import type { AgentContext } from "../../src/studio/agent-tools.ts";
import { createMcpServer } from "../../src/studio/mcp-server.ts";
import { toolsOf } from "../../src/studio/panel.ts";
import { database } from "../support/database.ts";

const empty = database("template0");
const failures: unknown[] = [];

/** An agent that asks a server in this process. */
async function served(tools: AgentContext["tools"]) {
  const failed = (error: unknown) => void failures.push(error);
  const server = createMcpServer({ version: "1", cwd: "/", platform: "/", tools, failed });
  const agent = new Client({ name: "a test", version: "1" });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(theirs), agent.connect(ours)]);
  return async (name: string) => agent.callTool({ name });
}
const failing = (error: Error) => served(() => Promise.reject(error));

test("lint, drift, doctor and migrations are the commands of svc", async () => {
  const commands: string[] = [];
  const command = async (...words: string[]) => [commands.push(words.join(" "))];
  const call = await served(async () => ({ command }) as never);
  for (const name of ["lint", "drift", "doctor", "migrations"]) await call(name);
  expect(commands).toEqual(["db lint", "db drift", "doctor", "migrate status"]);
});

test("an error shows no secret, and one that was not expected nothing at all", async () => {
  const url = "postgres://svc:hunter2@db:5432/app";
  const known = await (await failing(new DefinitionError(`${url} does not answer`, { hint: "Start it." })))("tables");
  const text = "postgres://svc:[redacted]@db:5432/app does not answer\n  Start it.";
  expect(known).toEqual({ content: [{ type: "text", text }], isError: true });
  const unexpected = new Error(url);
  expect(JSON.stringify(await (await failing(unexpected))("tables"))).toMatch(/^(?!.*(hunter2|at .*:\d+)).*INTERNAL/);
  expect(failures).toEqual([unexpected]);
});

test("a database that was never migrated says what to run", async () => {
  const tools = toolsOf({ read: empty.pool("studioRead"), act: null, command: async () => null });
  expect(await (await served(async () => tools))("tables")).toEqual({
    content: [{ type: "text", text: "UNAVAILABLE: The database has not been migrated.\nRun svc migrate." }],
    isError: true,
  });
});
