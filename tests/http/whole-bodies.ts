/** Bodies that are encoded as a whole, byte by byte as published clients send them, for whole-bodies.test.ts. */

/** The body, the arguments that the handler gets, and the answer. */
export const calls: [what: string, body: string, args: unknown, answer: string][] = [
  [
    "plain arguments",
    '{"json":{"name":"wire.echo","args":{"id":7,"tags":["a"]}},"meta":[],"maps":[]}',
    { id: 7, tags: ["a"] },
    '{"json":{"id":7,"tags":["a"]}}',
  ],
  ["no arguments", '{"json":{"name":"wire.echo"},"meta":[],"maps":[]}', undefined, '{"json":null,"meta":[[3]]}'],
  [
    "undefined as arguments",
    '{"json":{"name":"wire.echo","args":null},"meta":[[3,"args"]],"maps":[]}',
    undefined,
    '{"json":null,"meta":[[3]]}',
  ],
  ["null as arguments", '{"json":{"name":"wire.echo","args":null},"meta":[],"maps":[]}', null, '{"json":null}'],
  ["no meta and no maps", '{"json":{"name":"wire.echo","args":[1]}}', [1], '{"json":[1]}'],
  [
    "members in another order",
    '{"maps":[],"meta":[],"json":{"args":{"id":7},"name":"wire.echo"}}',
    { id: 7 },
    '{"json":{"id":7}}',
  ],
  [
    "a date and a bigint",
    '{"json":{"name":"wire.echo","args":{"at":"2026-01-02T03:04:05.678Z","big":"18446744073709551616"}},' +
      '"meta":[[1,"args","at"],[0,"args","big"]],"maps":[]}',
    { at: new Date("2026-01-02T03:04:05.678Z"), big: 2n ** 64n },
    '{"json":{"at":"2026-01-02T03:04:05.678Z","big":"18446744073709551616"},"meta":[[1,"at"],[0,"big"]]}',
  ],
  [
    "arguments that look encoded themselves",
    '{"json":{"name":"wire.echo","args":{"json":1,"meta":[]}},"meta":[],"maps":[]}',
    { json: 1, meta: [] },
    '{"json":{"json":1,"meta":[]}}',
  ],
];

/** The body, and a part of the answer. Each is refused with 400. */
export const refused: [what: string, body: string, answer: object][] = [
  ["no name", '{"json":{"args":1},"meta":[],"maps":[]}', { code: "VALIDATION_FAILED", issues: [{ path: ["name"] }] }],
  ["a json that is no object", '{"json":1,"meta":[],"maps":[]}', { code: "VALIDATION_FAILED" }],
  ["an unknown type code", '{"json":{"name":"wire.echo"},"meta":[[8,"args"]]}', { code: "BAD_REQUEST" }],
  ["a path to nowhere", '{"json":{"name":"wire.echo"},"meta":[[1,"args","at"]]}', { code: "BAD_REQUEST" }],
  [
    "a file, which only a form can hold",
    '{"json":{"name":"wire.echo","args":{"file":null}},"meta":[],"maps":[["args","file"]]}',
    { code: "BAD_REQUEST" },
  ],
  [
    "arguments nested 65 deep",
    `{"json":{"name":"wire.echo","args":${"[".repeat(65)}${"]".repeat(65)}},"meta":[],"maps":[]}`,
    { code: "BAD_REQUEST", issues: [{ message: "is nested deeper than 64" }] },
  ],
];

/** A form with one file, as published clients frame it. */
export const form = {
  type: "multipart/form-data; boundary=----x",
  body: [
    "------x",
    'Content-Disposition: form-data; name="data"',
    "",
    '{"json":{"name":"wire.size","args":{"file":null,"at":"2026-01-02T03:04:05.678Z"}},"meta":[[1,"args","at"]],"maps":[["args","file"]]}',
    "------x",
    'Content-Disposition: form-data; name="0"; filename="hello.txt"',
    "Content-Type: text/plain",
    "",
    "hello",
    "------x--",
    "",
  ].join("\r\n"),
};

/** Requests for a grant to watch: in the two forms. */
export const grants = {
  plain: '{"query":"notes.list","args":{"limit":5}}',
  whole: '{"json":{"query":"notes.list","args":{"limit":5}},"meta":[],"maps":[]}',
  broken: '{"json":{"query":"notes.list"},"meta":[[9,"args"]],"maps":[]}',
};
