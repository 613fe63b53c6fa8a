/**
 * Forms: fields and files of a body that has been read. Node's parser makes an object of every part, however small, and
 * nothing else happens meanwhile: parts are counted before it begins.
 * Next hop: `wire.ts` for calls, `request.ts` for routes.
 */
import { SvcError } from "../errors/svc-error.ts";

/** Bytes of one part's headers. */
const maxHeader = 16 * 1024;

/**
 * @param maxParts fields and files together. (Default: 1,000)
 * @throws SvcError BAD_REQUEST when the body does not follow its own boundary; PAYLOAD_TOO_LARGE beyond a limit
 */
export async function parseForm(body: Buffer, contentType: string, maxParts = 1000): Promise<FormData> {
  let type = contentType;
  if (/^\s*multipart\//i.test(contentType)) {
    const boundary = boundaryOf(contentType);
    checkParts(body, boundary, maxParts);
    // The very boundary that was counted: a type with several parameters can be read in several ways.
    type = `multipart/form-data; boundary="${boundary}"`;
  }
  try {
    return await new Response(body as BodyInit, { headers: { "content-type": type } }).formData();
  } catch (cause) {
    throw malformed(cause);
  }
}

/** Source: RFC 2046, section 5.1.1, for its characters. */
function boundaryOf(contentType: string): string {
  const [, quoted, bare] = /;\s*boundary=(?:"([^"]*)"|([^\s;]*))/i.exec(contentType) ?? [];
  const boundary = quoted ?? bare ?? "";
  if (!/^[0-9A-Za-z'()+_,./:=? -]{1,70}$/.test(boundary)) throw malformed();
  return boundary;
}

function checkParts(body: Buffer, boundary: string, maxParts: number): void {
  const delimiter = Buffer.from(`--${boundary}`);
  let parts = -1; // the last one ends the form
  for (let at = body.indexOf(delimiter); at >= 0; at = body.indexOf(delimiter, at + delimiter.length)) {
    if (++parts > maxParts) throw new SvcError("PAYLOAD_TOO_LARGE", `A form has at most ${maxParts} parts.`);
    const header = body.subarray(at, at + maxHeader);
    if (header.length === maxHeader && !header.includes("\r\n\r\n")) {
      throw new SvcError("PAYLOAD_TOO_LARGE", `The headers of a form's part have at most ${maxHeader} bytes.`);
    }
  }
  if (parts < 0) throw malformed();
}

const malformed = (cause?: unknown) => new SvcError("BAD_REQUEST", "The multipart body is malformed.", { cause });
