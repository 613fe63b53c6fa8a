/**
 * Forms: fields and files. A multipart body is never held as a whole: its files are written to disk as they arrive, and
 * the handler gets `File` objects that read from there until the response has closed.
 * Next hop: `multipart.ts` finds the parts; `wire.ts` for calls, `request.ts` for routes.
 */
import type { IncomingMessage } from "node:http";
import { SvcError } from "../kit/svc-error.ts";
import { takeBody } from "./body.ts";
import { accountOf, type BodyAccount, uncounted } from "./body-budget.ts";
import { ChunkList } from "./chunk-list.ts";
import { diskFailure } from "./errors.ts";
import type { FormFile, FormFiles } from "./form-files.ts";
import { type FormEvent, inUtf8, MultipartReader, malformed, notUtf8, type PartHead } from "./multipart.ts";

/** Maximum number of fields and files in a route's form. */
export const routeParts = 1000;

/** In bytes: a file up to the first size stays in memory, as long as the form's files together stay below the second. */
const smallFile = 64 * 1024;
const smallFiles = 1024 * 1024;

/** In bytes: size of one write to disk. */
const written = 64 * 1024;

export interface FormLimits {
  /** The whole body, in bytes. */
  multipartBytes: number;
  /** All fields together, in bytes. */
  jsonBytes: number;
  maxParts: number;
  /** (Default: the number of parts) */
  maxFiles?: number;
  /** Called once with the first bytes of the field `data`, before more than 16 KiB are held; an error refuses the form. */
  onLarge?: ((data: Buffer) => void) | undefined;
}

/**
 * Reads a multipart body from the connection.
 *
 * @throws SvcError as `takeBody`; BAD_REQUEST when the body does not follow its own boundary; PAYLOAD_TOO_LARGE beyond
 *   a limit; RATE_LIMITED and UNAVAILABLE when the memory or disk for forms is used up
 */
export async function readForm(request: IncomingMessage, limits: FormLimits): Promise<FormData> {
  const account = accountOf(request);
  const form = new FormBuilder(account, limits);
  const reader = new MultipartReader(request.headers["content-type"] ?? "", limits.maxParts);
  let size = 0;
  try {
    await takeBody(request, limits.multipartBytes, (chunk) => {
      const before = size;
      size += chunk.length;
      const added = form.add(reader.read(chunk));
      const done = () => {
        if (before <= uncounted && size > uncounted) limits.onLarge?.(form.data());
        free(chunk);
      };
      return added ? added.then(done) : done();
    });
    reader.end();
    return form.form;
  } catch (error) {
    throw diskFailure(error);
  }
}

/** Reads a body that is already in memory; its files stay there. */
export async function parseForm(body: Buffer, contentType: string): Promise<FormData> {
  if (!/^\s*multipart\//i.test(contentType)) return parseFields(body, contentType);
  const reader = new MultipartReader(contentType, routeParts);
  const form = new FormBuilder(null, { multipartBytes: body.length, jsonBytes: body.length, maxParts: routeParts });
  await form.add(reader.read(body));
  reader.end();
  return form.form;
}

async function parseFields(body: Buffer, contentType: string): Promise<FormData> {
  let fields = 1;
  for (const byte of body) if (byte === 0x26) fields++;
  // A trailing "&" starts no field.
  if (fields > routeParts + 1) throw new SvcError("PAYLOAD_TOO_LARGE", `A form has at most ${routeParts} fields.`);
  const text = inUtf8(body).toString("latin1");
  try {
    decodeURIComponent(text.replace(/%(?![0-9a-f]{2})/gi, "_")); // such a sign is text
  } catch {
    throw notUtf8(); // its escapes are not
  }
  try {
    return await new Response(body as BodyInit, { headers: { "content-type": contentType } }).formData();
  } catch (cause) {
    throw malformed("It is not application/x-www-form-urlencoded.", cause);
  }
}

/** The part being read. */
interface OpenPart extends PartHead {
  /** The part's bytes in memory. */
  chunks: ChunkList;
  size: number;
  /** Bytes counted as memory. */
  held: number;
  /** The file with the remaining bytes. */
  file: FormFile | null;
}

class FormBuilder {
  readonly #account: BodyAccount | null;
  readonly #limits: FormLimits;
  readonly form = new FormData();
  #part: OpenPart | undefined;
  #files = 0;
  #fieldBytes = 0;
  #inMemory = 0;
  #uncounted = uncounted;
  /** Bytes to be written to the open part's file. */
  #buffer: Buffer | undefined;
  #filled = 0;
  /** The first field of that name. */
  #data: OpenPart | undefined;

  /** @param account null: everything stays in memory, which is counted elsewhere */
  constructor(account: BodyAccount | null, limits: FormLimits) {
    this.#account = account;
    this.#limits = limits;
  }

  /** Handles the events in order. @returns a promise only if a file must be written */
  add(events: FormEvent[]): undefined | Promise<void> {
    for (const [index, event] of events.entries()) {
      const later = this.#addOne(event);
      if (later) return this.#rest(later, events.slice(index + 1));
    }
    return undefined;
  }

  async #rest(first: Promise<void>, events: FormEvent[]): Promise<void> {
    await first;
    for (const event of events) await this.#addOne(event);
  }

  /** The bytes of the field `data` so far. */
  data(): Buffer {
    return this.#data?.chunks.whole().subarray(0, uncounted) ?? Buffer.alloc(0);
  }

  #addOne(event: FormEvent): undefined | Promise<void> {
    if ("head" in event) return this.#begin(event.head);
    const part = this.#part;
    if (!part) return undefined;
    if ("end" in event) return this.#end(part);
    part.size += event.chunk.length;
    return part.filename === undefined ? this.#addToField(part, event.chunk) : this.#addToFile(part, event.chunk);
  }

  #begin(head: PartHead): undefined {
    this.#part = { ...head, chunks: new ChunkList(), size: 0, held: 0, file: null };
    const { maxFiles } = this.#limits;
    // Some clients send the call as a file of JSON.
    const isCall = maxFiles !== undefined && head.name === "data";
    if (isCall) this.#part.filename = undefined;
    if (head.filename === undefined || isCall) {
      if (head.name === "data") this.#data ??= this.#part;
    } else if (maxFiles !== undefined && ++this.#files > maxFiles) {
      throw new SvcError("PAYLOAD_TOO_LARGE", `A call carries at most ${maxFiles} files.`);
    }
  }

  #addToField(part: OpenPart, chunk: Buffer): undefined {
    this.#fieldBytes += chunk.length;
    const { jsonBytes } = this.#limits;
    if (this.#fieldBytes > jsonBytes) {
      const hint = `Send what is larger than ${jsonBytes} bytes as a file.`;
      throw new SvcError("PAYLOAD_TOO_LARGE", "The fields of this form are too large.", { hint });
    }
    this.#hold(part, chunk);
  }

  #addToFile(part: OpenPart, chunk: Buffer): undefined | Promise<void> {
    const account = this.#account;
    const isSmall = part.size <= smallFile && this.#inMemory + chunk.length <= smallFiles;
    if (!account?.budget.files || (!part.file && isSmall)) {
      this.#hold(part, chunk);
      this.#inMemory += chunk.length;
      return undefined;
    }
    account.take("disk", part.file ? chunk.length : part.size);
    if (!part.file) return this.#moveToDisk(part, chunk, account, account.budget.files);
    return this.#addToDisk(part.file, chunk);
  }

  async #moveToDisk(part: OpenPart, chunk: Buffer, account: BodyAccount, files: FormFiles): Promise<void> {
    const file = await files.open();
    account.atEnd(() => file.remove());
    part.file = file;
    for (const earlier of part.chunks.take()) await file.write(earlier);
    account.give("memory", part.held);
    this.#inMemory -= part.size - chunk.length;
    await this.#addToDisk(file, chunk);
  }

  /** Copies into the one buffer from which all files of the form are written. */
  #addToDisk(file: FormFile, chunk: Buffer): undefined | Promise<void> {
    this.#buffer ??= Buffer.allocUnsafeSlow(written);
    const copied = chunk.copy(this.#buffer, this.#filled);
    this.#filled += copied;
    if (this.#filled < written) return undefined;
    return this.#flush(file).then(() => this.#addToDisk(file, chunk.subarray(copied)));
  }

  async #flush(file: FormFile): Promise<void> {
    const filled = this.#buffer?.subarray(0, this.#filled);
    if (filled?.length) await file.write(filled);
    this.#filled = 0;
  }

  #end(part: OpenPart): undefined | Promise<void> {
    this.#part = undefined;
    const { name, filename, type, chunks } = part;
    if (part.file) return this.#endFile(part, part.file);
    if (filename === undefined) this.form.append(name, new TextDecoder().decode(inUtf8(chunks.whole())));
    else this.form.append(name, new File(chunks.take() as Uint8Array<ArrayBuffer>[], filename, { type }));
    return undefined;
  }

  async #endFile(part: OpenPart, file: FormFile): Promise<void> {
    await this.#flush(file);
    this.form.append(part.name, await file.finish(part.filename ?? "", part.type));
  }

  #hold(part: OpenPart, chunk: Buffer): void {
    const counted = Math.max(0, chunk.length - this.#uncounted);
    this.#uncounted = Math.max(0, this.#uncounted - chunk.length);
    if (counted > 0) this.#account?.take("memory", counted);
    part.held += counted;
    // The list copies small chunks, except the first one. That one must be copied here, because `free` releases the
    // memory of the socket's chunk.
    part.chunks.add(part.chunks.size === 0 && this.#account ? Buffer.from(chunk) : chunk);
  }
}

/**
 * Releases the memory of an unused socket chunk at once. The garbage collector would let a hundred MiB accumulate: it
 * measures JavaScript's own heap, in which buffers are small.
 */
function free(chunk: Buffer): void {
  const { buffer } = chunk;
  const isOwn = buffer.byteLength === chunk.length && chunk.length >= uncounted; // smaller ones may share a pool
  if (isOwn && buffer instanceof ArrayBuffer) buffer.transfer(0);
}
