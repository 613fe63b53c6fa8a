/**
 * Stores bytes in a bucket of Amazon S3 or a compatible store. An object appears when all of it has arrived.
 * Credentials come from the environment, as the S3 client finds them (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, roles).
 */
import { createHash } from "node:crypto";
import { pipeline, Readable, Transform } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { CompletedPart, S3Client, S3ClientConfig } from "@aws-sdk/client-s3";
import type { ByteRange, PutOptions, StorageDriver, StoredBytes, StoredPart } from "./driver.ts";
import { readParts } from "./read-parts.ts";
import { refusalOf, statusOf, unreachable } from "./s3-refusal.ts";

// Loaded on first use: the library is larger than the rest together, and most processes never need it.
const library = () => import("@aws-sdk/client-s3");

/** In bytes: the least that S3 takes as a part that is not the last. */
const smallestPart = 5 * 1024 * 1024;

/** Requests at a time. */
const parallelCopies = 8;

/** A store whose host has vanished closes no connection. In milliseconds; the S3 client tries three times. */
export interface Patience {
  connectMs: number;
  /** Until the answer to a read begins. */
  answerMs: number;
  /** Without a byte of a file that is read. */
  silenceMs: number;
  /** Without a byte in either direction for other requests: a store may copy a part for long. */
  workMs: number;
}
const usual: Patience = { connectMs: 5_000, answerMs: 10_000, silenceMs: 20_000, workMs: 60_000 };

export interface S3Options {
  endpoint?: string | undefined;
  region?: string | undefined;
  /** Whether the bucket is part of the path, and not of the host name. (Default: true with an endpoint) */
  pathStyle?: boolean | undefined;
  /** (Default: `usual`) */
  patience?: Patience;
}

export class S3Driver implements StorageDriver {
  readonly #options: S3ClientConfig = { requestChecksumCalculation: "WHEN_REQUIRED" }; // few stores support the newer checksums
  readonly #bucket: string;
  readonly #store: Pick<S3Options, "endpoint" | "region">;
  readonly #patience: Patience;
  #client: Promise<S3Client> | undefined;
  #reader: Promise<S3Client> | undefined;

  constructor(bucket: string, options: S3Options) {
    const { endpoint, region, pathStyle = endpoint !== undefined, patience = usual } = options;
    this.#options.forcePathStyle = pathStyle;
    if (region) this.#options.region = region;
    if (endpoint) Object.assign(this.#options, { endpoint, region: region ?? "us-east-1" });
    this.#bucket = bucket;
    this.#store = { endpoint, region };
    this.#patience = patience;
  }

  #connect(): Promise<S3Client> {
    this.#client ??= this.#open({ socketTimeout: this.#patience.workMs });
    return this.#client;
  }

  /** For reads of files. The client's limit on silence would also break a file whose reader pauses. */
  #connectReader(): Promise<S3Client> {
    const waits = { requestTimeout: this.#patience.answerMs, throwOnRequestTimeout: true };
    // By default fifty: as many clients that read slowly would keep all others from reading.
    const any = { maxSockets: Number.POSITIVE_INFINITY };
    this.#reader ??= this.#open({ ...waits, httpAgent: any, httpsAgent: any });
    return this.#reader;
  }

  async #open(limits: object): Promise<S3Client> {
    const { S3Client } = await library();
    const requestHandler = { connectionTimeout: this.#patience.connectMs, ...limits };
    return digestDeletions(new S3Client({ ...this.#options, requestHandler }));
  }

  /** @throws SvcError UNAVAILABLE with `Retry-After` when the store is away, StoreRefusal for a mistake of the operator */
  async #answer<T>(answer: Promise<T>): Promise<T> {
    return answer.catch((error) => {
      throw this.#refusal(error);
    });
  }

  #refusal(error: unknown): unknown {
    return refusalOf(error, { bucket: this.#bucket, ...this.#store });
  }

  async put(key: string, bytes: AsyncIterable<Uint8Array> | Uint8Array, options: PutOptions = {}): Promise<void> {
    // Sends parts of 5 MiB, with at most four in memory.
    const { Upload } = await import("@aws-sdk/lib-storage");
    // What broke the upload, instead of what the store says when the rest of it is removed.
    let broken: { error: unknown } | undefined;
    const source = async function* (chunks: AsyncIterable<Uint8Array>) {
      try {
        for await (const chunk of chunks) yield options.reused ? Buffer.from(chunk) : chunk;
      } catch (error) {
        broken = { error };
        throw error;
      }
    };
    const Body = bytes instanceof Uint8Array ? bytes : Readable.from(source(bytes), { objectMode: false });
    const upload = new Upload({ client: await this.#connect(), params: { Bucket: this.#bucket, Key: key, Body } });
    await this.#answer(upload.done()).catch((error) => {
      throw broken ? broken.error : error;
    });
  }

  /** The store copies the parts. It takes small ones only at the end, so with others in between all are sent again. */
  async compose(key: string, parts: readonly StoredPart[]): Promise<void> {
    if (parts.length > 0 && parts.slice(0, -1).every(({ size }) => size >= smallestPart)) {
      const isCopied = await this.#copyParts(key, parts);
      if (isCopied) return;
    }
    await this.put(key, readParts(this, parts));
  }

  /** @returns false if the store does not know how to copy */
  async #copyParts(key: string, parts: readonly StoredPart[]): Promise<boolean> {
    const s3 = await library();
    const client = await this.#connect();
    const to = { Bucket: this.#bucket, Key: key };
    const { UploadId } = await this.#answer(client.send(new s3.CreateMultipartUploadCommand(to)));
    const copyPart = async (part: StoredPart, PartNumber: number) => {
      const CopySource = `${this.#bucket}/${part.key}`;
      const command = new s3.UploadPartCopyCommand({ ...to, UploadId, PartNumber, CopySource });
      const { CopyPartResult } = await this.#answer(client.send(command));
      return { PartNumber, ETag: CopyPartResult?.ETag };
    };
    try {
      const Parts: CompletedPart[] = [];
      for (let at = 0; at < parts.length; at += parallelCopies) {
        const some = parts.slice(at, at + parallelCopies);
        Parts.push(...(await Promise.all(some.map((part, index) => copyPart(part, at + index + 1)))));
      }
      const command = new s3.CompleteMultipartUploadCommand({ ...to, UploadId, MultipartUpload: { Parts } });
      await this.#answer(client.send(command));
      return true;
    } catch (error) {
      // If this fails too, the sweep removes it.
      await client.send(new s3.AbortMultipartUploadCommand({ ...to, UploadId })).catch(() => {});
      if (statusOf(error) === 501) return false;
      throw error;
    }
  }

  async read(key: string, range?: ByteRange): Promise<Readable | null> {
    const { GetObjectCommand } = await library();
    const Range = range && `bytes=${range.start}-${range.end}`;
    const command = new GetObjectCommand({ Bucket: this.#bucket, Key: key, ...(Range && { Range }) });
    try {
      const { Body, ContentRange } = await this.#answer((await this.#connectReader()).send(command));
      if (range && !ContentRange?.startsWith(`bytes ${range.start}-`)) {
        (Body as Readable).destroy();
        throw this.#refusal(Object.assign(new Error("other bytes than the range"), { name: "IgnoredRange" }));
      }
      return breakIfSilent(Body as Readable, this.#patience.silenceMs);
    } catch (error) {
      // A 404 without this code comes from something else than a store: it tells nothing of the file.
      if (error instanceof Error && error.name === "NoSuchKey") return null;
      throw error;
    }
  }

  async readWhole(key: string): Promise<Buffer | null> {
    const bytes = await this.read(key);
    return bytes && (await buffer(bytes));
  }

  async delete(key: string): Promise<void> {
    const { DeleteObjectCommand } = await library();
    await this.#answer((await this.#connect()).send(new DeleteObjectCommand({ Bucket: this.#bucket, Key: key })));
  }

  async deleteAll(prefix: string): Promise<void> {
    for await (const { Contents = [] } of this.#pages(prefix)) {
      const Objects = Contents.map(({ Key }) => ({ Key }));
      if (Objects.length > 0) {
        const { DeleteObjectsCommand } = await library();
        const command = new DeleteObjectsCommand({ Bucket: this.#bucket, Delete: { Objects, Quiet: true } });
        const { Errors: [refused] = [] } = await this.#answer((await this.#connect()).send(command));
        if (refused) throw this.#refusal(Object.assign(new Error(refused.Message), { name: refused.Code }));
      }
    }
  }

  async *list(prefix: string): AsyncIterable<StoredBytes> {
    for await (const { Contents = [] } of this.#pages(prefix)) {
      for (const { Key, Size, LastModified } of Contents) {
        if (Key !== undefined) yield { key: Key, size: Size ?? 0, modifiedAt: LastModified ?? new Date() };
      }
    }
  }

  /** Unfinished multipart uploads cost as much as objects, and listings do not show them. */
  async sweepLeftovers(before: Date): Promise<number> {
    const { AbortMultipartUploadCommand, ListMultipartUploadsCommand } = await library();
    const client = await this.#connect();
    const listed = this.#answer(client.send(new ListMultipartUploadsCommand({ Bucket: this.#bucket })));
    const uploads = await listed.then(
      ({ Uploads = [] }) => Uploads,
      (error) => {
        if (statusOf(error) === 501) return []; // a store without this list
        throw error;
      },
    );
    const old = uploads.filter(({ Initiated }) => Initiated && Initiated < before);
    for (const { Key, UploadId } of old) {
      await this.#answer(client.send(new AbortMultipartUploadCommand({ Bucket: this.#bucket, Key, UploadId })));
    }
    return old.length;
  }

  async *#pages(prefix: string) {
    const { paginateListObjectsV2 } = await library();
    const pages = paginateListObjectsV2({ client: await this.#connect() }, { Bucket: this.#bucket, Prefix: prefix });
    for (;;) {
      const { value, done } = await this.#answer(pages.next());
      if (done) return;
      yield value;
    }
  }
}

/** Breaks a file of which nothing more comes. A reader that pauses has not read what came. */
function breakIfSilent(body: Readable, milliseconds: number): Readable {
  let received = 0;
  let before = 0;
  const file = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length;
      done(null, chunk);
    },
  });
  const timer = setInterval(() => {
    if (received === before && file.readableLength === 0) file.destroy(unreachable());
    before = received;
  }, milliseconds).unref();
  pipeline(body, file, () => clearInterval(timer)); // the reader gets the error
  return file;
}

/**
 * For a list of keys to delete every store wants a digest, and older ones know Content-MD5 alone. Amazon's takes it, too. The
 * client itself sends a CRC32.
 */
function digestDeletions(client: S3Client): S3Client {
  client.middlewareStack.add(
    (next, { commandName }) =>
      (args) => {
        if (commandName !== "DeleteObjectsCommand") return next(args);
        const request = args.request as { headers: Record<string, string>; body: string };
        const kept = Object.entries(request.headers).filter(([name]) => !/^x-amz-(sdk-)?checksum-/i.test(name));
        const digest = createHash("md5").update(request.body).digest("base64");
        const headers = { ...Object.fromEntries(kept), "content-md5": digest };
        return next({ ...args, request: Object.assign(request, { headers }) });
      },
    { step: "build", priority: "low" }, // after the client's own
  );
  return client;
}
