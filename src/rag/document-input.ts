/** Checks the input of `ctx.rag.ingest` before it is used. Next hop: `src/rag/context.ts`. */
import type { IngestInput, Language } from "../contract/rag.ts";
import type { RagScope } from "../contract/search.ts";
import { SvcError } from "../kit/svc-error.ts";
import { languageOf } from "../search/languages.ts";
import { type ResolvedScope, refusal, resolveScope, scopeParts } from "../search/scope.ts";
import { composed } from "../text/composed.ts";

/** In bytes. */
const largest = 5 * 1024 * 1024;

/** The caller who ingests: a user, the system, or an anonymous caller. */
export interface Ingester {
  userId: string | null;
  /** Documents of the system have no owner, so they cannot be private. */
  system: boolean;
}

interface Place {
  title: unknown;
  scope: RagScope;
  sourceUri?: unknown;
  language?: unknown;
}

/** The scope and title of a document. @throws SvcError as `ctx.rag.ingest` */
export function checkPlace(
  { title, scope, sourceUri, language }: Place,
  { userId, system }: Ingester,
): { scope: ResolvedScope; language: Language } {
  // Otherwise a job would be told to sign in.
  if (system && userId === null && ["private", "shared"].includes(scopeParts(scope).visibility as string)) {
    throw refusal("scope.visibility", "public: a document that the system stores has no owner");
  }
  const place = { language: languageOf(language), scope: resolveScope(scope, userId) };
  if (userId === null && !system) throw new SvcError("UNAUTHORIZED");
  if (typeof title !== "string" || title.trim() === "" || title.length > 1_000) {
    throw refusal("title", "a text of 1 to 1,000 characters");
  }
  if (sourceUri !== undefined && (typeof sourceUri !== "string" || sourceUri === "" || sourceUri.length > 2_000)) {
    throw refusal("sourceUri", "a text of 1 to 2,000 characters");
  }
  return place;
}

/** The text of a document, with form feeds between pages. @throws SvcError BAD_REQUEST, PAYLOAD_TOO_LARGE */
export function bodyOf({ markdown, pages, text }: IngestInput): ["markdown" | "text", string] {
  if ([markdown, pages, text].filter((one) => one !== undefined).length !== 1) {
    throw refusal("markdown", "given, or pages, or text, but only one of them");
  }
  const isPages = Array.isArray(pages) && pages.every((page) => typeof page === "string");
  if (pages !== undefined && !isPages) throw refusal("pages", "a list of texts");
  const given = pages?.map((page) => page.replaceAll("\f", "\n")).join("\n\f\n") ?? markdown ?? text;
  if (typeof given !== "string") throw refusal(markdown === undefined ? "text" : "markdown", "a text");
  const body = composed(given);
  if (Buffer.byteLength(body) > largest) {
    throw new SvcError("PAYLOAD_TOO_LARGE", "A document is larger than 5 MiB.", {
      hint: "Split it, for example by chapters.",
    });
  }
  return [text === undefined ? "markdown" : "text", body];
}
