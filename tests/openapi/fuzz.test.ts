// If this file fails, a request derived from the API's description ends in a 5xx, in an undescribed answer, or in one
// that discloses private data.

import { beforeAll, expect, test } from "vitest";
import type { OpenApiDocument } from "../../src/openapi/document.ts";
import { database } from "../support/database.ts";
import { fc } from "../support/properties.ts";
import { bearer, service, type User } from "../support/service.ts";
import { api, relatedSql } from "./application.ts";
import { schemaChecks } from "./checks.ts";
import { type FuzzAnswer, type FuzzRequest, requestsOf, sendRaw, type Who } from "./requests.ts";

const total = process.env.FUZZ_RUNS ? 20_000 : 150;
const perRound = 100;
const atOnce = 10;
const seed = Number(process.env.FUZZ_SEED ?? 20260101);

const db = database();
beforeAll(() => db.sql(relatedSql));
const svc = service(db, api);
/** A value of another user, which no caller may see. */
const canary = `canary${crypto.randomUUID()}`;
let document: OpenApiDocument;
let user: User;
let checks: ReturnType<typeof schemaChecks>;
beforeAll(async () => {
  document = (await svc.fetch("/openapi.json")).body;
  checks = schemaChecks(document);
  user = await svc.signUp("fuzz");
  const other = await svc.signUp("other");
  await svc.mutate(other, "notes.create", { title: canary });
  await made(other);
  await made(user);
});

/** Ids of rows, of an unfinished upload, and of a file. */
const known: string[] = [];

async function made(owner: User): Promise<void> {
  for (const name of ["articles.create", "samples.create", "posts.create"]) {
    const { body } = await svc.mutate(owner, name, { title: "one" });
    if (body.json) known.push(body.json.id);
  }
  const upload = (size: number) => ({ "tus-resumable": "1.0.0", "upload-length": String(size), ...bearer(owner) });
  for (const size of [0, 100]) {
    const { headers } = await svc.fetch("/api/storage/uploads", { method: "POST", headers: upload(size) });
    known.push(headers.get("location")?.split("/").pop() ?? "");
  }
}

/** These may end a session. */
const ending = /sign-out|delete-user|change-password|reset-password/;

const credentials = (who: Who): Record<string, string> => {
  const cookie = `authlib.session_token=${encodeURIComponent(user.sessionToken)}`;
  if (who === "jwt") return bearer(user);
  if (who === "session") return { authorization: `Bearer ${user.sessionToken}` };
  if (who === "cookie") return { cookie, origin: svc.url };
  if (who === "liar") return { authorization: "Bearer eyJhbGciOiJub25lIn0.e30." };
  if (who === "forger") return { cookie: `authlib.session_token=${user.id}.AAAA`, origin: svc.url };
  if (who === "both") return { cookie, authorization: "Basic eDp4" };
  return {};
};

const stacks = /node_modules|\bat .+:\d+:\d+|svc_private|\bSELECT\b.+\bFROM\b|pg_catalog|postgres:\/\//i;

/**
 * Operations with an open input schema, because its library cannot describe it; an event's name and a status are checked
 * after the input. An aggregate refuses conditions that a list ignores, other orders than what it asks for, and unknown
 * time zones.
 */
const isOpen = /foreign\.valibot|times\.next|workflows\.(signal|list)|\.aggregate$/;

/**
 * Whether the document allows this call. Cursors are texts that only the service creates, and no schema can say how many
 * rows and levels a call may include. Idempotency keys are drawn like all headers, and most have another form.
 */
function isRight({ path, fits, headers, body }: FuzzRequest): boolean {
  const isCall = /^\/api\/(query|mutation)\/./.test(path) && !isOpen.test(path);
  const isPlain = headers["content-type"] === "application/json" && headers["content-encoding"] !== "gzip";
  return (
    isCall &&
    fits &&
    isPlain &&
    !("idempotency-key" in headers) &&
    !/"cursor":"|"include":\{"/.test(Buffer.from(body).toString())
  );
}

/** 503 says here that passwords wait for the processor, or that PostgreSQL has not answered a probe within two seconds. */
const busy: readonly string[] = ["/api/auth/sign-up", "/readyz"];

/** The problem of an answer, or null. */
function wrong(request: FuzzRequest, { status, headers, text }: FuzzAnswer): string | null {
  if (status >= 500 && !(busy.includes(request.path) && status === 503)) return `status ${status}: ${text}`;
  if (text.includes(canary)) return "tells another user's row";
  if (request.path !== "/metrics" && !request.path.startsWith("/openapi") && stacks.test(text)) return `tells: ${text}`;
  // Node itself answers malformed HTTP. Another method is another operation, or none.
  if (status === 0 || request.method.toLowerCase() !== request.verb || headers["x-request-id"] === undefined)
    return null;
  const item = document.paths[request.path] as Record<string, { responses: Record<string, Described> }>;
  const { responses } = item[request.verb] as { responses: Record<string, Described> };
  const key = [String(status), `${String(status)[0]}XX`, "default"].find((key) => key in responses);
  if (key === undefined || (key === "default" && status < 400)) return `status ${status} is not described`;
  if (isRight(request) && (status === 400 || status === 415)) return `refuses what it describes: ${text}`;
  const type = String(headers["content-type"] ?? "").split(";")[0] ?? "";
  if (type !== "application/json" || text === "") return null;
  const pointer = pointerOf(request, key, responses[key]);
  if (!pointer) return status < 400 && key !== "2XX" ? `JSON is not described for ${status}` : null;
  const check = checks.at(pointer);
  return check(JSON.parse(text)) ? null : `${status} ${text.slice(0, 300)}: ${JSON.stringify(check.errors?.[0])}`;
}

interface Described {
  $ref?: string;
  content?: Record<string, unknown>;
}

const segment = (key: string) => key.replaceAll("~", "~0").replaceAll("/", "~1");

/** The position of the schema of an answer. */
function pointerOf({ path, verb }: FuzzRequest, status: string, described: Described = {}): string | null {
  const end = "/content/application~1json/schema";
  if (described.$ref) return `${described.$ref.slice(1)}${end}`;
  if (!described.content?.["application/json"]) return null;
  return `/paths/${segment(path)}/${verb}/responses/${status}${end}`;
}

interface Counts {
  fine: number;
  refused: number;
  operations: Set<string>;
}

async function ask(request: FuzzRequest, counts: Counts): Promise<string[]> {
  const { who, headers, path } = request;
  const answer = await sendRaw(svc.url, { ...request, headers: { ...headers, ...credentials(who) } });
  if (ending.test(path) && answer.status === 200) user = await svc.signUp("fuzz");
  if (answer.status < 400) counts.fine++;
  else counts.refused++;
  counts.operations.add(`${request.verb} ${path}`);
  const problem = wrong(request, answer);
  if (problem === null) return [];
  const body = Buffer.from(request.body).toString().slice(0, 300);
  return [`${request.method} ${request.url.slice(0, 300)} (${who}, ${headers["content-type"]}) ${body}: ${problem}`];
}

test("no request made of the document ends in a 5xx, an undescribed answer, a leak or a crash", {
  timeout: 1_200_000,
}, async () => {
  const counts: Counts = { fine: 0, refused: 0, operations: new Set() };
  const requests = requestsOf(document, known);
  const problems: string[] = [];
  for (let sent = 0; sent < total && problems.length < 20; sent += perRound) {
    const queue = fc.sample(requests, { numRuns: perRound, seed: seed + sent });
    const lane = async () => {
      for (let next = queue.pop(); next; next = queue.pop()) problems.push(...(await ask(next, counts)));
    };
    await Promise.all(Array.from({ length: atOnce }, lane));
  }
  expect(problems).toEqual([]);
  expect((await svc.fetch("/healthz")).status).toBe(200);
  expect((await svc.query(user, "notes.list")).status).toBe(200);
  expect(svc.logged.filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
  // If all requests were refused early, the test would prove little.
  expect(counts.fine).toBeGreaterThan(total / 8);
  expect(counts.refused).toBeGreaterThan(total / 8);
  expect(counts.operations.size).toBeGreaterThan(60);
  if (process.env.FUZZ_RUNS) console.log({ ...counts, operations: counts.operations.size });
});
