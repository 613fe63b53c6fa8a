/**
 * Describes stored files and uploads in the OpenAPI document.
 * Next hop: `src/storage/route.ts` and `src/storage/upload-route.ts` answer them.
 */
import { type JsonSchema, objectOf } from "../kit/json-schema.ts";
import { answers, errors, inQuery, json, nobody, operation, type Part, signedIn, text } from "../kit/parts.ts";
import { fits, formats } from "./transform-options.ts";

const whole = (maximum: number): JsonSchema => ({ type: "integer", minimum: 1, maximum });
const header = (name: string, schema: JsonSchema, required = true): Part => ({ name, in: "header", required, schema });
const id: Part = { name: "id", in: "path", required: true, schema: text({ format: "uuid" }) };
const headersOf = (...names: string[]): Part => Object.fromEntries(names.map((name) => [name, { schema: text() }]));
const bytes: Part = { "*/*": {} };
const anyBytes = { "application/octet-stream": {} };

/** A stored file: the bytes, and what HEAD says of them. */
function file(head: boolean): Part {
  const content = head ? undefined : bytes;
  const described = headersOf("etag", "cache-control", "content-disposition", "accept-ranges");
  const summary = head ? "Metadata of a stored file" : "The bytes of a stored file";
  return operation(head ? "svc-storage-head" : "svc-storage-get", "storage", summary, nobody, {
    parameters: [
      id,
      inQuery("grant", text(), "Permission to read a private file."),
      inQuery("w", whole(4096), "Of images: width in pixels."),
      inQuery("h", whole(4096), "Of images: height in pixels."),
      inQuery("f", text({ enum: [...formats] }), "Of images: the format."),
      inQuery("q", whole(100), "Of images: the quality."),
      inQuery("fit", text({ enum: [...fits] }), "Of images: how width and height are filled."),
      header("range", text(), false),
      header("if-none-match", text(), false),
    ],
    responses: {
      200: answers("The file.", content, described),
      ...(!head && { 206: answers("A part of it.", content, { ...described, ...headersOf("content-range") }) }),
      304: answers("It has not changed.", undefined, described),
      416: answers("The range is outside the file.", undefined, headersOf("content-range")),
      ...errors(400, 403, 404),
    },
  });
}

const version = header("tus-resumable", { const: "1.0.0" });
const progress = headersOf("upload-offset", "upload-length", "upload-expires", "tus-resumable");
const uploadErrors = errors(400, 401, 403, 404, 412, 413, 415);

export const storagePaths: Record<string, Part> = {
  "/api/storage/{id}": { get: file(false), head: file(true) },
  "/api/storage/uploads": {
    post: operation("svc-uploads-create", "storage", "Begin an upload in parts (tus 1.0.0)", signedIn, {
      parameters: [
        version,
        header("upload-length", { type: "integer", minimum: 0 }),
        header("upload-metadata", text({ description: "filename, filetype, visibility; each in base64." }), false),
      ],
      responses: {
        201: answers("The upload was created, at `Location`.", undefined, { ...progress, ...headersOf("location") }),
        ...errors(400, 401, 403, 404, 412, 413),
      },
    }),
    options: operation("svc-uploads-describe", "storage", "What the uploads support", nobody, {
      responses: {
        204: answers(
          "The answer is in the headers.",
          undefined,
          headersOf("tus-version", "tus-extension", "tus-checksum-algorithm", "tus-max-size"),
        ),
        ...errors(403),
      },
    }),
  },
  "/api/storage/uploads/{id}": {
    parameters: [id],
    head: operation("svc-uploads-show", "storage", "How far an upload has come", signedIn, {
      parameters: [version],
      responses: {
        200: answers("The offset is in the headers.", undefined, { ...progress, ...headersOf("upload-metadata") }),
        ...uploadErrors,
      },
    }),
    patch: operation("svc-uploads-append", "storage", "Continue an upload", signedIn, {
      parameters: [
        version,
        header("upload-offset", { type: "integer", minimum: 0 }),
        header("upload-checksum", text({ description: "sha1 or sha256, a space, and the digest in base64." }), false),
      ],
      requestBody: { required: true, content: { "application/offset+octet-stream": {} } },
      responses: {
        204: answers("The bytes were stored.", undefined, progress),
        ...errors(400, 401, 403, 404, 409, 412, 413, 415, 460),
      },
    }),
    delete: operation("svc-uploads-remove", "storage", "Cancel an upload", signedIn, {
      parameters: [version],
      responses: { 204: answers("It was removed.", undefined, progress), ...uploadErrors },
    }),
    put: operation("svc-uploads-receive", "storage", "Send a whole file to a signed URL", nobody, {
      parameters: [inQuery("token", text(), "Of the signed URL.")],
      requestBody: { required: true, content: anyBytes },
      responses: {
        200: answers("It is stored.", json(objectOf({ id: text() }))),
        ...errors(400, 403, 404, 409, 413),
      },
    }),
  },
};
