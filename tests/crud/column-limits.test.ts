// If this file fails, a value that fits its column is refused, or the refusal of another value does not name its
// column.
import { halfvec, numeric, pgTable, real, vector } from "drizzle-orm/pg-core";
import { describe, expect, test } from "vitest";
import { columnLimit } from "../../src/crud/column-limits.ts";
import { describeColumns } from "../../src/crud/columns.ts";
import { inputSchema } from "../../src/crud/openapi-columns.ts";
import { wireForms, wireKind } from "../../src/crud/wire-kinds.ts";
import { database } from "../support/database.ts";

const db = database();

const texts = ["", "abc", "abcd", "abc  ", "ab  d", "äöü", "😀😀😀", "😀😀😀😀", "   ", "    "];
const numbers = [0, 1, -1, 9.99, 9.994, 9.995, -9.995, 99, 99.5, 100, 0.05, 0.004, 1e-7, -1e-7, 1e21, -1e21, 1e300];
const decimals = ["9.9949", "9.9950", "00009.99", "-0", "99.49", "-99.50", "0.0999999", "0.00995", "123456789.5"];
const types: [type: string, values: unknown[]][] = [
  ["integer", [0, 1.5, -0.5, 2147483647, 2147483648, -2147483648, -2147483649]],
  ["smallint", [0.5, 0, 32767, 32768, -32768, -32769, 2147483647]],
  ["real", [0, 1, -0, 3.4e38, 3.5e38, -3.5e38, 1e-45, 1e-46, 1e300]],
  ["varchar(3)", texts],
  ["char(3)", texts],
  ["char", ["", "a", "ab", "a "]],
  ["varchar", texts],
  ["numeric(3, 2)", [...numbers, ...decimals]],
  ["numeric(3)", [...numbers, ...decimals]],
  ["numeric(2,2)", [...numbers, ...decimals]],
  ["numeric(30,25)", [...numbers, ...decimals]],
  ["numeric", [...numbers, ...decimals]],
  ["extensions.vector(2)", [[1], [1, 2], [1, 2, 3], [1, 1e39], [1, -3.4e38], [0, 1e-46]]],
  ["extensions.halfvec(2)", [[1], [1, 2], [1, 65504], [1, -65519], [1, 65520]]],
  ["extensions.vector", [[1], [1, 1e39]]],
  ["date", ["2026-02-28", "2026-02-29", "2024-02-29", "1900-02-29", "2026-04-31", "0000-01-01", "0001-01-01"]],
  [
    "timestamp (3) with time zone",
    [
      "2026-02-30T10:00Z",
      "2026-01-01T00:00+15:59",
      "2026-01-01T00:00-16:00",
      "2026-01-01T00:00+05",
      "2026-01-01T00:00+0530",
      "2026-01-01 00:00+99",
      "12345-06-07",
    ],
  ],
];

describe.for(types)("%s", ([type, values]) => {
  test("takes what PostgreSQL takes", async () => {
    await db.sql(`drop table if exists limited; create table limited (it ${type})`);
    const declared = type.replace("extensions.", "");
    const limit = columnLimit(declared);
    const form = wireForms[wireKind(declared, undefined)];
    for (const value of values) {
      const json = JSON.stringify({ it: value });
      const assign = `insert into limited select ($1::jsonb ->> 'it')::${type.replace(/ *\(.*?\)/, "").replace(/^char$/, "bpchar")}`;
      const isTaken = await db.sql(assign, [json]).then(
        () => true,
        () => false,
      );
      const accepted = form.accept(value, undefined);
      expect([value, accepted !== undefined && (limit?.holds(accepted) ?? true)]).toEqual([value, isTaken]);
    }
  });
});

test("dates beyond the year 9999 go without the sign that JavaScript gives them", () => {
  const far = new Date("+012345-06-07T08:09:10.000Z");
  expect(wireForms.timestamp.accept(far, undefined)).toBe("12345-06-07T08:09:10.000Z");
  expect(wireForms.date.accept(far, undefined)).toBe("12345-06-07");
  expect(wireForms.date.accept(new Date("-000001-01-01T00:00:00Z"), undefined)).toBeUndefined();
});

test("a numeric that is read as a bigint takes whole numbers, within its precision", () => {
  const [wide, narrow] = describeColumns(
    pgTable("t", { wide: numeric({ mode: "bigint" }), narrow: numeric({ mode: "bigint", precision: 2 }) }),
  );
  for (const value of ["5", "-12", "1e+21"]) expect(wide?.limit?.holds(value), value).toBe(true);
  for (const value of ["1.5", "5.0", "1e-7"]) expect(wide?.limit?.holds(value), value).toBe(false);
  expect(["99", "100", "1.5"].map((value) => narrow?.limit?.holds(value))).toEqual([true, false, false]);
});

test("the OpenAPI document does not allow what these limits refuse", () => {
  const table = pgTable("t", {
    vector: vector({ dimensions: 3 }).notNull(),
    half: halfvec({ dimensions: 2 }).notNull(),
    real: real().notNull(),
    wide: numeric({ mode: "bigint" }).notNull(),
    whole: numeric({ mode: "bigint", precision: 10, scale: 2 }).notNull(),
    part: numeric({ precision: 3, scale: 3 }).notNull(),
  });
  const schemas = Object.fromEntries(describeColumns(table).map((column) => [column.property, inputSchema(column)]));
  const most = 3.4028234663852886e38;
  expect(schemas).toEqual({
    vector: { type: "array", items: { type: "number", minimum: -most, maximum: most }, minItems: 3, maxItems: 3 },
    half: { type: "array", items: { type: "number", minimum: -65_519, maximum: 65_519 }, minItems: 2, maxItems: 2 },
    real: { type: "number", minimum: -most, maximum: most },
    wide: { type: ["string", "integer"], pattern: "^-?[0-9]+$", description: "A whole number." },
    whole: expect.objectContaining({ type: ["string", "integer"], pattern: "^-?[0-9]{1,8}$", maximum: 99_999_999 }),
    part: expect.objectContaining({ pattern: "^-?0(\\.[0-9]{1,3})?$", minimum: -0.999, maximum: 0.999 }),
  });
  const [half, single] = describeColumns(table).slice(1, 3);
  expect([half?.limit?.holds([65_519, -65_519]), single?.limit?.holds(most)]).toEqual([true, true]);
});
