/** Values for every type of column, for crud.test.ts to send. */

const instant = "2026-01-02T03:04:05.678+00:00";
/** The sent value, and the returned one if it has another form. */
export const forms: [column: string, sent: unknown, wire?: unknown][] = [
  ["anInteger", 0],
  ["anInteger", -2147483648],
  ["anInteger", 2147483647],
  ["aBigint", "9223372036854775807"],
  ["aBigint", "-9223372036854775808"],
  ["aBigint", 12, "12"],
  ["aBigint", -0, "0"],
  ["aNumber", 0.1],
  ["aNumber", -1.7976931348623157e308],
  ["aNumber", 5e-324],
  ["aNumber", 3],
  ["aNumeric", "1234567890123456.7891"],
  ["aNumeric", 0.5, "0.5000"],
  ["aNumeric", "-0.00005", "-0.0001"],
  ["aBoolean", true],
  ["aBoolean", false],
  ["aText", ""],
  ["aText", "'; drop table notes; -- \\ \" \u0001 😀\r\n"],
  ["aText", "x".repeat(100_000)],
  ["aShortText", "äöüß😀"],
  ["aUuid", "00000000-0000-4000-8000-00000000000a"],
  ["aUuid", "AAAAAAAA-0000-4000-8000-00000000000A", "aaaaaaaa-0000-4000-8000-00000000000a"],
  ["aMood", "it's complicated"],
  ["anInstant", "2026-01-02T03:04:05.678Z", instant],
  ["anInstant", "2026-01-02T05:04:05.678+02:00", instant],
  ["anInstant", "2026-01-02 03:04:05.678", instant],
  ["anInstant", "2026-01-02", "2026-01-02T00:00:00+00:00"],
  ["aTimestamp", "2026-01-02T05:04:05.678+02:00", instant],
  ["aTimestamp", "2026-01-02T03:04:05.678", instant],
  ["aDate", "2026-01-02"],
  ["aDate", "0044-03-15"],
  ["aDate", "2024-02-29"],
  ["aJson", { a: [1, null, { b: "\u2028" }], __proto_: 1 }],
  ["aJson", []],
  ["aJson", "text"],
  ["aJson", 1.5],
  ["aJson", false],
  ["someBytes", ""],
  ["someBytes", "AP8Q"],
  ["someBytes", Buffer.alloc(300, 7).toString("base64")],
  ["someTags", []],
  ["someTags", ["a", "", null, "b,c", '"{}', "NULL"]],
];

/** An instant in one form, whatever its form when sent. */
export const time = (value: unknown) =>
  typeof value === "string" && /T\d\d:/.test(value) ? new Date(value).toISOString() : value;

/** Values that each column refuses, and the path if it is not the column. */
export const wrong: [string, unknown[], path?: (string | number)[]][] = [
  ["anInteger", ["1", 1.5, 2147483648, -2147483649, true, {}, []]],
  ["aBigint", ["x", "1.5", 1.5, 2 ** 53, "9223372036854775808", "-9223372036854775809", "", true]],
  ["aNumber", ["1", true, {}]],
  ["aNumeric", ["1e5", "NaN", "", "1,5", true]],
  ["aBoolean", ["true", 1, 0, {}]],
  ["aText", [1, true, {}, "a\0b", "\udc00"]],
  ["aUuid", ["x", 1, "00000000-0000-4000-8000-0000000000"]],
  ["aMood", ["angry", "CALM", 1, ""]],
  ["anInstant", ["yesterday", 0, "2026-13-01", "2026-01-01T25:00Z", "", {}, "now", "infinity"]],
  ["anInstant", ["0000-01-01", "2026-01-01T00:00+16:00", "2025-02-29T10:00Z"]],
  ["aTimestamp", ["x", 1]],
  ["aDate", ["2026-1-2", "01/02/2026", 1, "today"]],
  ["someBytes", ["a", "ab=c", "%%%%", 1, "aa-_"]],
  ["someTags", ["a", { 0: "a" }, 1]],
  [
    "someTags",
    [
      ["a", 1],
      ["a", ["b"]],
    ],
    ["someTags", 1],
  ],
];

/** Values of the right type that do not fit the column. */
export const unfit: [column: string, value: unknown][] = [
  ["aShortText", "longer"],
  ["aNumeric", "12345678901234567"],
  ["anInstant", "2026-02-30"],
  ["aDate", "2026-02-30"],
  ["aJson", "\0"],
  ["aJson", { "\0": [{ a: "\udc00" }] }],
];
