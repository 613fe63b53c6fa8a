/** Reads request bodies: bounded, once, and only when somebody asks. */
import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { SvcError } from "../errors/svc-error.ts";

export interface BodyLimits {
  /** Largest JSON or text body, in bytes. */
  jsonBytes: number;
  /** Largest multipart or binary body, in bytes. */
  multipartBytes: number;
}

/** The media type without parameters, in lower case; "" when there is none. */
export function mediaType(request: IncomingMessage): string {
  return (request.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** JSON by its own type, by a `+json` suffix, or by default where no type is given. */
export const isJson = (type: string) => type === "" || type === "application/json" || type.endsWith("+json");

/** In bytes: what is larger is counted, together with all others that are. */
const large = 1_048_576;

/** So many bodies of the largest size that is allowed may be held at once. */
const maxLarge = 4;

/** In bytes: what is no larger is always taken. */
const small = 16_384;

/** In bytes: so much of what lies between. Anybody may send such bodies by the thousand, and none of them to its end. */
const roomBetween = 256 * 1_048_576;

/** In bytes: the bodies that this process holds, as its memory is the process's. */
const held = { large: 0, between: 0 };

/**
 * Reads the whole body. It counts as held until the answer has been sent.
 *
 * @param limit in bytes
 * @throws SvcError PAYLOAD_TOO_LARGE as soon as the limit is passed; UNAVAILABLE when bodies of others fill the
 *   memory that there is for them, whoever sends them and however slowly; BAD_REQUEST when the client goes away
 */
export function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  const tooLarge = () =>
    new SvcError("PAYLOAD_TOO_LARGE", undefined, { hint: `At most ${limit} bytes are accepted here.` });
  return new Promise((resolve, reject) => {
    if (Number(request.headers["content-length"]) > limit) {
      request.resume();
      return reject(tooLarge());
    }
    const chunks: Buffer[] = [];
    let size = 0;
    let counted = 0;
    const count = (bytes: number) => {
      held[counted > large ? "large" : "between"] -= counted;
      counted = bytes > small ? bytes : 0;
      held[counted > large ? "large" : "between"] += counted;
    };
    const isTooMuch = () =>
      counted > 0 && (counted > large ? held.large > maxLarge * limit : held.between > roomBetween);
    let isWanted = true;
    // What still comes is thrown away, so that the answer can be read.
    const refuse = (error: SvcError) => {
      isWanted = false;
      chunks.length = 0;
      count(0);
      reject(error);
    };
    request.on("data", (chunk: Buffer) => {
      if (!isWanted) return;
      size += chunk.length;
      count(size);
      if (size > limit) refuse(tooLarge());
      else if (isTooMuch()) refuse(new SvcError("UNAVAILABLE", undefined, { retryAfter: 5 }));
      else chunks.push(chunk);
    });
    request.on("close", () => count(0)); // with the answer, or with the connection
    request.on("end", () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    request.on("error", (cause) => reject(new SvcError("BAD_REQUEST", "The request was cut short.", { cause })));
    request.on("aborted", () => reject(new SvcError("BAD_REQUEST", "The request was cut short.")));
  });
}

/**
 * @param request whose body it is, for the hint
 * @throws SvcError INVALID_JSON, also for text that is not UTF-8
 */
export function parseJson(body: Buffer, { headers }: Pick<IncomingMessage, "headers">): unknown {
  const encoding = headers["content-encoding"] ?? "identity";
  const hint =
    encoding === "identity" ? {} : { hint: "A body is not unpacked here: send it without content-encoding." };
  if (!isUtf8(body)) throw new SvcError("INVALID_JSON", undefined, hint);
  try {
    const text = body.toString("utf8");
    // A byte order mark may be ignored (RFC 8259, section 8.1), and some editors write one.
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch (cause) {
    throw new SvcError("INVALID_JSON", undefined, { cause, ...hint });
  }
}
