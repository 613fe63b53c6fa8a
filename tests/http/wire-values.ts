/** Arguments that procedures.test.ts sends and expects back unchanged. */

/** Values that JSON can represent. */
export const plain = [
  null,
  true,
  0,
  -1.5,
  "",
  "ünïcödé 😀",
  [],
  {},
  [null, [1]],
  { a: { b: [{ c: "d" }] } },
  { json: 1 },
  { json: 1, meta: "text" },
  { meta: [] },
  { json: 1, meta: [], more: 1 },
  "\0",
  { "a\0b": "c\0d" },
  "\ud800 alone",
  ["\udfff"],
];

/** The value, and its encoding: https://orpc.dev/docs/advanced/rpc-protocol */
export const rich: Record<string, [unknown, { json: unknown; meta: unknown[] }]> = {
  bigint: [2n ** 64n, { json: "18446744073709551616", meta: [[0]] }],
  date: [new Date("2026-01-02T03:04:05.678Z"), { json: "2026-01-02T03:04:05.678Z", meta: [[1]] }],
  "invalid date": [new Date(Number.NaN), { json: null, meta: [[1]] }],
  NaN: [Number.NaN, { json: null, meta: [[2]] }],
  undefined: [[undefined], { json: [null], meta: [[3, 0]] }],
  URL: [new URL("https://a.example/b?c=d"), { json: "https://a.example/b?c=d", meta: [[4]] }],
  RegExp: [/a+\/b/giu, { json: "/a+\\/b/giu", meta: [[5]] }],
  Set: [new Set([1, "a"]), { json: [1, "a"], meta: [[6]] }],
  Map: [
    new Map<unknown, unknown>([
      ["a", 1],
      [2, "b"],
    ]),
    {
      json: [
        ["a", 1],
        [2, "b"],
      ],
      meta: [[7]],
    },
  ],
  "a set of dates in a list": [
    { list: [new Set([new Date(0)])] },
    {
      json: { list: [["1970-01-01T00:00:00.000Z"]] },
      meta: [
        [1, "list", 0, 0],
        [6, "list", 0],
      ],
    },
  ],
};
