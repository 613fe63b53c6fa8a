// If this file fails, a form that arrives in pieces is read differently from a whole one, loses bytes, or hangs.
import { describe, expect, test } from "vitest";
import { type FormEvent, MultipartReader } from "../../src/http/multipart.ts";
import { anyCharacter, fc } from "../support/properties.ts";

const runs = Number(process.env.FUZZ_RUNS ?? 80);

interface Part {
  name: string;
  filename?: string | undefined;
  type?: string;
  bytes: Buffer;
}

/** Reads a body that is cut at the given places. */
function read(body: Buffer, cuts: number[], type: string, maxParts = 1000): Part[] {
  const reader = new MultipartReader(type, maxParts);
  const places = [0, ...cuts.map((cut) => cut % (body.length + 1)).sort((a, b) => a - b), body.length];
  const events: FormEvent[] = [];
  for (const [index, at] of places.slice(1).entries()) {
    // A copy, overwritten afterwards: kept data must not refer to memory that a socket reuses.
    const piece = Buffer.from(body.subarray(places[index], at));
    for (const event of reader.read(piece)) events.push("chunk" in event ? { chunk: Buffer.from(event.chunk) } : event);
    piece.fill(0x58);
  }
  reader.end();
  return parts(events);
}

function parts(events: FormEvent[]): Part[] {
  const found: Part[] = [];
  let open: Buffer[] | undefined;
  for (const event of events) {
    if ("head" in event) {
      open = [];
      found.push({ ...event.head, bytes: Buffer.alloc(0) });
    } else if ("chunk" in event) open?.push(event.chunk);
    else (found.at(-1) as Part).bytes = Buffer.concat(open ?? []);
  }
  return found;
}

const write = (boundary: string, all: Part[]) =>
  Buffer.concat([
    ...all.flatMap(({ name, filename, bytes }) => [
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"`),
      Buffer.from(filename === undefined ? "" : `; filename="${filename}"\r\ncontent-type: a/b`),
      Buffer.from("\r\n\r\n"),
      bytes,
      Buffer.from("\r\n"),
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ]);

const boundary = fc.stringMatching(/^[0-9A-Za-z'()+_,./:=?-]{1,70}$/);
/** Bytes that look like a boundary or its beginning are the difficult ones. */
const content = (mark: string) =>
  fc
    .array(
      fc.oneof(
        fc.constantFrom("\r", "\n", "\r\n", "-", "--", "\r\n-", "\r\n--", `--${mark}`, `\r\n--${mark.slice(0, -1)}`),
        fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
        fc.nat(9000).map((length) => Buffer.alloc(length, 7)),
      ),
      { maxLength: 8 },
    )
    .map((pieces) => Buffer.concat(pieces.map((piece) => Buffer.from(piece as string))))
    // A writer must choose a boundary that the content does not contain.
    .filter((bytes) => !Buffer.concat([Buffer.from("\r\n"), bytes, Buffer.from("\r\n")]).includes(`\r\n--${mark}`));
const name = fc.stringMatching(/^[a-zA-Zäöü가0-9 _.;=-]{1,20}$/);
const part = (mark: string) => fc.record({ name, filename: fc.option(name, { nil: undefined }), bytes: content(mark) });
const cuts = fc.array(fc.nat(), { maxLength: 12 });

describe("a form that is cut anywhere", () => {
  test("has the parts, and the bytes, that were written", () => {
    const forms = boundary.chain((mark) => fc.tuple(fc.constant(mark), fc.array(part(mark), { maxLength: 6 }), cuts));
    fc.assert(
      fc.property(forms, ([mark, all, places]) => {
        const found = read(write(mark, all), places, `multipart/form-data; boundary="${mark}"`);
        expect(found.map(({ name, filename, bytes }) => ({ name, filename, bytes }))).toEqual(all);
      }),
      { numRuns: runs },
    );
  });

  test("is read the same byte by byte", () => {
    const all = [{ name: "a", filename: "f", bytes: Buffer.from("\r\n--\r\n--bounda\r\n\r\n") }];
    const body = write("boundary", all);
    const each = Array.from({ length: body.length }, (_, index) => index);
    expect(read(body, each, "multipart/form-data; boundary=boundary")).toMatchObject(all);
  });

  test("and that ends before its closing boundary is refused, wherever it ends", () => {
    const body = write("b", [
      { name: "a", bytes: Buffer.from("one") },
      { name: "f", filename: "f", bytes: Buffer.from("two") },
    ]);
    for (let end = 0; end < body.length - 2; end++) {
      expect(() => read(body.subarray(0, end), [], "multipart/form-data; boundary=b")).toThrow(/malformed/);
    }
  });

  test("of any bytes at all is read or refused, and never hangs or fails otherwise", () => {
    const piece = fc.oneof(
      fc.constantFrom("--b", "--b--", "\r\n", "\r\n--b\r\n", "\r\n\r\n", "--", "content-disposition: form-data; name="),
      fc.constantFrom('"a"', '; filename="', "content-type:", ": ", "\n", "\r", '"', "\\"),
      fc.string({ unit: anyCharacter, maxLength: 20 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), cuts, (pieces, places) => {
        try {
          read(Buffer.from(pieces.join(""), "latin1"), places, "multipart/form-data; boundary=b");
        } catch (error) {
          expect(error).toMatchObject({
            name: "SvcError",
            code: expect.stringMatching(/BAD_REQUEST|PAYLOAD_TOO_LARGE/),
          });
        }
      }),
      { numRuns: runs * 2 },
    );
  });
});

describe("the headers of a part", () => {
  const one = (headers: string) =>
    read(Buffer.from(`--b\r\n${headers}\r\n\r\nx\r\n--b--`), [], "multipart/form-data; boundary=b")[0];

  test.for<[string, Partial<Part>]>([
    ['content-disposition: form-data; name="a"', { name: "a", filename: undefined }],
    ["Content-Disposition:form-data;name=a", { name: "a" }],
    ['content-disposition: form-data; filename="f"; name="a"', { name: "a", filename: "f", type: "text/plain" }],
    ['content-disposition: form-data; name="a;filename=b"', { name: "a;filename=b", filename: undefined }],
    ['content-disposition: form-data; name="a"; filename=""', { filename: "" }],
    ['content-disposition: form-data; name="%22%0D%0A%41"', { name: '"\r\n%41' }],
    ['content-disposition: form-data; name="a\\"b"; filename="C:\\dir\\f"', { name: 'a"b', filename: "C:\\dir\\f" }],
    ['content-disposition: form-data; name="a"; filename="한글.txt"', { filename: "한글.txt" }],
    [`content-disposition: form-data; name="a"; filename="x"; filename*=UTF-8''%ed%95%9c`, { filename: "한" }],
    [`content-disposition: form-data; name="a"; filename="x"; filename*=UTF-8''%zz`, { filename: "x" }],
    ['content-disposition: form-data; name="a"; filename="f"\r\nContent-Type: image/png', { type: "image/png" }],
    ['content-disposition: form-data; name="a"\r\ncontent-transfer-encoding: binary', { name: "a" }],
  ])("%s", ([headers, expected]) => {
    expect(one(headers)).toMatchObject(expected);
  });

  test.for([
    "content-type: text/plain",
    "content-disposition: attachment; name=a",
    "content-disposition: form-data",
    'content-disposition: form-data; filename="f"',
    "content-disposition: form-datax; name=a",
    "content-disposition: form-data; name=a\r\ncontent-disposition: form-data; name=b",
    "content-disposition: form-data; name=a\r\ncontent-transfer-encoding: base64",
    "no colon",
  ])("%s is refused", (headers) => {
    expect(() => one(headers)).toThrow(expect.objectContaining({ code: "BAD_REQUEST", hint: expect.any(String) }));
  });

  test("have 16 KiB, in however many pieces they come", () => {
    const sized = (bytes: number) => `x: ${"y".repeat(bytes)}\r\ncontent-disposition: form-data; name="a"`;
    expect(one(sized(16_000))).toMatchObject({ name: "a" });
    for (const bytes of [22_000, 100_000]) {
      expect(() => one(sized(bytes))).toThrow(expect.objectContaining({ code: "PAYLOAD_TOO_LARGE" }));
    }
  });
});

test.for(["multipart/form-data", "multipart/form-data; boundary=", `multipart/form-data; boundary=${"b".repeat(71)}`])(
  "%s has no boundary: 400",
  (type) => {
    expect(() => new MultipartReader(type, 1)).toThrow(expect.objectContaining({ code: "BAD_REQUEST" }));
  },
);
