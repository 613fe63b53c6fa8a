/**
 * `/api/storage/uploads`: uploads that resume after a disconnect, by the tus protocol, and `PUT` to signed URLs.
 * Source: https://tus.io/protocols/resumable-upload, version 1.0.0, with creation, expiration, checksum and
 * termination. Why not a library: docs/adr/0009-uploads-in-parts.md.
 * Next hop: `uploads.ts`, which refuses by `limits.uploadBytes`; `upload-url.ts` for signed URLs. Files of forms are
 * limited in `src/http/form.ts`.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { requireOneOf } from "../contract/scopes.ts";
import { answerMethods } from "../http/allowed-methods.ts";
import { mediaType, sendContinue } from "../http/body.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { diskFailure } from "../http/errors.ts";
import { exchangeOf, sendJson } from "../http/exchange.ts";
import type { Authenticate } from "../kit/session.ts";
import { SvcError } from "../kit/svc-error.ts";
import { isUuid } from "../kit/uuid.ts";
import { type Identity, identityOf } from "../postgres/identity.ts";
import { Incoming } from "./incoming.ts";
import { cleanName, cleanType } from "./names.ts";
import type { Storage } from "./storage.ts";
import type { Checksum } from "./upload-parts.ts";
import { type Upload, Uploads, uploadNotFound } from "./uploads.ts";

/** Of the bytes of an upload in parts. */
const partType = "application/offset+octet-stream";

const path = "/api/storage/uploads";
const version = "1.0.0";
const extensions = "creation,expiration,checksum,termination";

export const isUploadPath = (given: string) => given === path || given.startsWith(`${path}/`);

type Verb = (call: Call) => Promise<void>;

interface Call {
  request: IncomingMessage;
  response: ServerResponse;
  owner: string;
  /** Policies are asked for it before the first byte. */
  identity: Identity;
  /** Empty for the collection. */
  id: string;
}

export function uploadEndpoint(storage: Storage, authenticate: Authenticate): Endpoint {
  const uploads = new Uploads(storage);

  const create: Verb = async ({ request, response, owner, identity }) => {
    if (!storage.uploads.enabled) {
      throw new SvcError("NOT_FOUND", "This service does not accept uploads in parts.", {
        hint: "uploads.enabled is false.",
      });
    }
    refuseExtensions(request);
    const size = wholeNumber(request, "upload-length");
    const { filename, name = filename, filetype, type = filetype, visibility = "private" } = readMetadata(request);
    if (visibility !== "private" && visibility !== "public")
      throw invalidRequest('visibility is "private" or "public".');
    if (visibility === "public" && !storage.uploads.public) {
      throw new SvcError("FORBIDDEN", "Uploads in parts are private.", {
        hint: "Leave visibility out: a mutation can make the file public. Or set uploads.public in svc.config.ts.",
      });
    }
    const file = { name: cleanName(name ?? "file"), size, type: cleanType(type ?? ""), visibility } as const;
    const { id, expiresAt } = await uploads.start(owner, file, identity);
    answer(response, 201, { location: `${path}/${id}`, ...progress({ size, received: 0, expiresAt }) });
  };

  const show: Verb = async ({ response, owner, id }) => {
    const upload = await uploads.find(id, owner);
    const { name: filename, type: filetype, visibility } = await uploads.describe(id, owner);
    const metadata = writeMetadata({ filename, filetype, visibility });
    const length = String(upload.size);
    answer(response, 200, { ...progress(upload), "upload-length": length, "upload-metadata": metadata });
  };

  const append: Verb = async ({ request, response, owner, id }) => {
    if (mediaType(request) !== partType) {
      throw new SvcError("UNSUPPORTED_MEDIA_TYPE", undefined, { hint: `Send ${partType}.` });
    }
    const start = wholeNumber(request, "upload-offset");
    const checksum = readChecksum(request);
    const upload = await taking(request, (body) => uploads.append(id, owner, start, body, checksum));
    answer(response, 204, progress(upload));
  };

  const remove: Verb = async ({ response, owner, id }) => {
    await uploads.remove(id, owner);
    answer(response, 204);
  };

  const receive = async (request: IncomingMessage, response: ServerResponse, id: string, token: string) => {
    // RFC 9110, section 14.5: a part of a file would be stored as the file.
    if (request.headers["content-range"] !== undefined) throw invalidRequest("A signed URL takes the whole file.");
    await taking(request, (body) => uploads.receive(id, token, body));
    sendJson(response, 200, JSON.stringify({ id }));
  };

  /** Answers OPTIONS with the version and extensions, without authentication, as the protocol requires. */
  const describe = (response: ServerResponse) =>
    answer(response, 204, {
      "tus-version": version,
      "tus-extension": extensions,
      "tus-checksum-algorithm": "sha1,sha256",
      "tus-max-size": String(storage.limits.uploadBytes),
    });

  const ofCollection: Record<string, Verb | undefined> = { POST: create };
  const ofUpload: Record<string, Verb | undefined> = { HEAD: show, PATCH: append, DELETE: remove };

  return async (request, response) => {
    const [given = "", query = ""] = (request.url ?? "").split("?", 2);
    const id = given.slice(path.length + 1).toLowerCase();
    const exchange = exchangeOf(response);
    exchange.operation = id ? `${path}/:id` : path;
    const method = methodOf(request);
    if (method === "PUT" && isUuid(id)) {
      return receive(request, response, id, new URLSearchParams(query).get("token") ?? "").catch(keepReceived);
    }
    exchange.headers["tus-resumable"] = version;
    if (method === "OPTIONS") return describe(response);
    if (id && !isUuid(id)) throw uploadNotFound();
    const verbs = id ? ofUpload : ofCollection;
    const verb = verbs[method];
    if (!verb) return answerMethods(response, method, Object.keys(verbs));
    requireVersion(request, exchange.headers);
    exchange.headers["tus-extension"] = extensions;
    const session = await authenticate(request.headers, method === "HEAD" ? "read" : "write");
    if (!session) throw new SvcError("UNAUTHORIZED");
    if (session.key) requireOneOf(session.key, ["files:write"]);
    const identity = identityOf({ session, requestId: "" });
    await verb({ request, response, owner: session.user.id, identity, id }).catch(keepReceived);
  };
}

/** @param answered headers of the answer: a refusal says which version is understood */
function requireVersion({ headers }: IncomingMessage, answered: Record<string, string>): void {
  if (headers["tus-resumable"] === version) return;
  answered["tus-version"] = version;
  throw new SvcError("PRECONDITION_FAILED", "Uploads use tus 1.0.0.", { hint: "Send Tus-Resumable: 1.0.0." });
}

/**
 * Refuses requests that use an unsupported extension. If it were ignored, the client would believe that its parts are
 * joined or that its bytes were stored.
 */
function refuseExtensions({ headers }: IncomingMessage): void {
  const asked = [
    headers["upload-concat"] !== undefined && "concatenation",
    headers["upload-defer-length"] !== undefined && "creation-defer-length",
    headers["content-type"]?.startsWith(partType) && "creation-with-upload",
  ].find(Boolean);
  if (!asked) return;
  throw new SvcError("BAD_REQUEST", `The extension ${asked} of tus is not supported.`, {
    hint: `Supported are ${extensions}. Send Upload-Length with POST, and the bytes by PATCH.`,
  });
}

async function taking<T>(request: IncomingMessage, run: (body: Incoming) => Promise<T>): Promise<T> {
  sendContinue(request);
  const body = new Incoming(request, Number(request.headers["content-length"]));
  try {
    return await run(body);
  } finally {
    void body.discard();
  }
}

/** For clients behind a proxy that blocks PATCH. */
function methodOf({ method = "", headers }: IncomingMessage): string {
  const wanted = headers["x-http-method-override"];
  return method === "POST" && typeof wanted === "string" ? wanted.toUpperCase() : method;
}

function answer(response: ServerResponse, status: number, headers: Record<string, string> = {}): void {
  response.writeHead(status, { ...exchangeOf(response).headers, "cache-control": "no-store", ...headers });
  response.end();
}

function progress({ received, expiresAt }: Upload): Record<string, string> {
  return { "upload-offset": String(received), ...(expiresAt && { "upload-expires": expiresAt.toUTCString() }) };
}

function wholeNumber({ headers }: IncomingMessage, name: string): number {
  const text = headers[name];
  if (typeof text === "string" && /^\d{1,15}$/.test(text)) return Number(text);
  throw invalidRequest(`The header ${name} must be a whole number of bytes.`);
}

/** Parses comma-separated pairs of a key and a base64 value. Unknown keys are ignored. */
function readMetadata({ headers }: IncomingMessage): Partial<Record<string, string>> {
  const text = headers["upload-metadata"] ?? "";
  if (typeof text !== "string" || text.length > maxMetadata)
    throw invalidRequest("The header Upload-Metadata is too long.");
  const pairs = text.split(",").map((pair) => pair.trim().split(" "));
  return Object.fromEntries(pairs.map(([key = "", value = ""]) => [key, Buffer.from(value, "base64").toString()]));
}

const writeMetadata = (values: Record<string, string>): string =>
  Object.entries(values)
    .map(([key, value]) => `${key} ${Buffer.from(value).toString("base64")}`)
    .join(",");

/** In UTF-16 units. Limits names to 4 KiB, of which 255 bytes are kept. */
const maxMetadata = 8192;

function readChecksum({ headers }: IncomingMessage): Checksum | undefined {
  if (
    String(headers.trailer ?? "")
      .toLowerCase()
      .includes("upload-checksum")
  ) {
    throw invalidRequest("The extension checksum-trailer of tus is not supported: send Upload-Checksum as a header.");
  }
  const text = headers["upload-checksum"];
  if (text === undefined) return undefined;
  const [algorithm, digest = ""] = String(text).split(" ");
  if (algorithm !== "sha1" && algorithm !== "sha256") throw invalidRequest("Upload-Checksum takes sha1 and sha256.");
  return { algorithm, digest: Buffer.from(digest, "base64") };
}

const invalidRequest = (message: string) => new SvcError("BAD_REQUEST", message);

/** With a full disk, the bytes received so far are kept. */
const keepReceived = (error: unknown): never => {
  throw diskFailure(error);
};
