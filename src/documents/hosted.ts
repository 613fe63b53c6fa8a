/**
 * Hosted providers: an endpoint with OpenAI's chat completions that accepts files. Address, key, model and prompt are
 * the platform's and never appear in an error.
 */
import { setTimeout as wait } from "node:timers/promises";
import type { DocumentKind } from "../contract/documents.ts";
import { limitAnswer } from "../kit/limit-answer.ts";
import { retryAfter } from "../kit/retry-after.ts";
import { EngineFailure } from "./sandbox.ts";

export interface HostedEndpoint {
  /** Such as https://ai.example.com/v1. */
  baseUrl: string;
  apiKey?: string | undefined;
  model: string;
  /** What a page costs, in credits. */
  creditsPerPage: number;
  /** (Default: asks for all of the text as Markdown) */
  prompt?: string | undefined;
  /** Milliseconds for one of three attempts, 240000 at most. (Default: 120000) */
  timeMs?: number | undefined;
}

const mimeTypes: Record<DocumentKind, string> = {
  pdf: "application/pdf",
  hwp: "application/x-hwp",
  hwpx: "application/hwp+zip",
  hwpml: "application/xml",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  txt: "text/plain",
  md: "text/markdown",
  html: "text/html",
  csv: "text/csv",
};
const ask = "Write the whole document as Markdown: headings, lists, tables, notes. Leave nothing out and add nothing.";
const attempts = 3;
/** In milliseconds. */
const longestPause = 30_000;
/** In milliseconds. Three attempts with pauses end before their reservation expires. */
const longestAttempt = 240_000;
/** In bytes, as of an engine here (`sandbox.ts`). */
const largestAnswer = 64 * 1024 * 1024;

/**
 * @param signal aborts it: it rejects with the signal's reason
 * @throws EngineFailure when it did not answer with text; 429 and 5xx are tried three times
 */
export async function convertHosted(
  endpoint: HostedEndpoint,
  bytes: Buffer,
  kind: DocumentKind,
  filename = `document.${kind}`,
  signal?: AbortSignal,
): Promise<string> {
  const file = { filename, file_data: `data:${mimeTypes[kind]};base64,${bytes.toString("base64")}` };
  const content = [
    { type: "text", text: endpoint.prompt ?? ask },
    { type: "file", file },
  ];
  const body = JSON.stringify({ model: endpoint.model, messages: [{ role: "user", content }] });
  for (let attempt = 1; ; attempt++) {
    const response = await send(endpoint, body, signal);
    if (response.ok) return readAnswer(response, signal);
    await response.body?.cancel();
    const isBusy = response.status === 429 || response.status >= 500;
    const pause = retryAfter(response.headers.get("retry-after")) ?? attempt * 1000;
    if (!isBusy || attempt === attempts || pause > longestPause) {
      throw new EngineFailure(`It answered with status ${response.status}.`);
    }
    await wait(pause, undefined, { ...(signal && { signal }) }).catch(() => signal?.throwIfAborted());
  }
}

async function send(
  { baseUrl, apiKey, timeMs = 120_000 }: HostedEndpoint,
  body: string,
  signal: AbortSignal | undefined,
): Promise<Response> {
  const limit = AbortSignal.timeout(Math.min(timeMs, longestAttempt));
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (apiKey) headers.authorization = `Bearer ${apiKey}`;
  try {
    return await fetch(`${baseUrl.replace(/\/$/, "")}/chat/completions`, {
      method: "POST",
      headers,
      body,
      redirect: "error",
      signal: signal ? AbortSignal.any([limit, signal]) : limit,
    });
  } catch {
    signal?.throwIfAborted();
    throw new EngineFailure("It could not be reached, or took too long.");
  }
}

async function readAnswer(response: Response, signal?: AbortSignal): Promise<string> {
  const limited = limitAnswer(
    response,
    largestAnswer,
    () => new EngineFailure("Its text is larger than is kept here."),
  );
  const answer = (await limited.json().catch((error) => {
    signal?.throwIfAborted();
    if (error instanceof EngineFailure) throw error;
    if (!(error instanceof SyntaxError)) throw new EngineFailure("Its answer broke off, or took too long.");
    return null;
  })) as { choices?: { message?: { content?: unknown }; finish_reason?: unknown }[] } | null;
  const choice = answer?.choices?.[0];
  if (["length", "content_filter"].includes(String(choice?.finish_reason)))
    throw new EngineFailure("Its answer was cut off.");
  const text = choice?.message?.content;
  if (typeof text !== "string" || text.trim() === "") throw new EngineFailure("Its answer holds no text.");
  return text.replace(/^```(?:markdown|md)?\n([\s\S]*)\n```\s*$/, "$1");
}
