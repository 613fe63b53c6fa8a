/**
 * Describes stored files and uploads in the OpenAPI document.
 * Next hop: `src/storage/route.ts` and `src/storage/upload-route.ts` answer them.
 */
import { type JsonSchema, objectOf } from "../kit/json-schema.ts";
import { answers, errors, inQuery, json, nobody, type Part, signedIn, text } from "../kit/parts.ts";
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
  return {
    operationId: head ? "svc-storage-head" : "svc-storage-get",
    tags: ["storage"],
    summary: head ? "Metadata of a stored file" : "The bytes of a stored file",
    security: nobody,
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
  };
}

const version = header("tus-resumable", { const: "1.0.0" });
const progress = headersOf("upload-offset", "upload-length", "upload-expires", "tus-resumable");

const upload = (
  operationId: string,
  summary: string,
  status: number,
  description: string,
  more: Part,
  headers: Part = progress,
): Part => ({
  operationId,
  tags: ["storage"],
  summary,
  security: signedIn,
  ...more,
  responses: {
    [status]: answers(description, undefined, headers),
    ...errors(...((more.errors as number[] | undefined) ?? []), 400, 401, 403, 404, 412, 413, 415),
  },
});

export const storagePaths: Record<string, Part> = {
  "/api/storage/{id}": { get: file(false), head: file(true) },
  "/api/storage/uploads": {
    post: {
      ...upload("svc-uploads-create", "Begin an upload in parts (tus 1.0.0)", 201, "The upload was created.", {}),
      parameters: [
        version,
        header("upload-length", { type: "integer", minimum: 0 }),
        header("upload-metadata", text({ description: "filename, filetype, visibility; each in base64." }), false),
      ],
      responses: {
        201: answers("The upload was created, at `Location`.", undefined, { ...progress, ...headersOf("location") }),
        ...errors(400, 401, 403, 404, 412, 413),
      },
    },
    options: {
      operationId: "svc-uploads-describe",
      tags: ["storage"],
      summary: "What the uploads support",
      security: nobody,
      responses: {
        204: answers(
          "The answer is in the headers.",
          undefined,
          headersOf("tus-version", "tus-extension", "tus-checksum-algorithm", "tus-max-size"),
        ),
        ...errors(403),
      },
    },
  },
  "/api/storage/uploads/{id}": {
    parameters: [id],
    head: upload(
      "svc-uploads-show",
      "How far an upload has come",
      200,
      "The offset is in the headers.",
      { parameters: [version] },
      { ...progress, ...headersOf("upload-metadata") },
    ),
    patch: {
      ...upload("svc-uploads-append", "Continue an upload", 204, "The bytes were stored.", {}),
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
    },
    delete: upload("svc-uploads-remove", "Cancel an upload", 204, "It was removed.", { parameters: [version] }),
    put: {
      operationId: "svc-uploads-receive",
      tags: ["storage"],
      summary: "Send a whole file to a signed URL",
      security: nobody,
      parameters: [inQuery("token", text(), "Of the signed URL.")],
      requestBody: { required: true, content: anyBytes },
      responses: {
        200: answers("It is stored.", json(objectOf({ id: text() }))),
        ...errors(400, 403, 404, 409, 413),
      },
    },
  },
};
