// If this file fails, a list with a filter that its column does not take answers with all rows, and nobody says why; or
// it is said of a filter that counts.
import {
  bigint,
  date,
  doublePrecision,
  integer,
  jsonb,
  pgTable,
  real,
  serial,
  smallint,
  text,
  timestamp,
} from "drizzle-orm/pg-core";
import pino from "pino";
import { expect, test } from "vitest";
import type { CrudDefinition } from "../../src/contract/crud.ts";
import { toFilterJson } from "../../src/crud/crud-filters.ts";
import { resourceJson } from "../../src/crud/crud-resource.ts";
import { noteIgnored } from "../../src/crud/ignored-input.ts";
import { createCrudFactory, createSvcProcedureBuilders, defineApi, openRls } from "../../src/index.ts";
import { database } from "../support/database.ts";

const db = database();

const grids = pgTable(
  "grids",
  {
    id: serial("id").primaryKey(),
    cells: integer("cells").array().array(),
    sizes: doublePrecision("sizes").array(),
    times: timestamp("times", { withTimezone: true }).array(),
    day: date("day"),
    days: date("days").array(),
    notes: jsonb("notes").array().array(),
    big: bigint("big", { mode: "bigint" }),
    ratio: real("ratio"),
    ratios: real("ratios").array(),
    small: smallint("small"),
    smalls: smallint("smalls").array(),
    title: text("title"),
  },
  () => openRls({ read: "anyone", write: "nobody" }),
);
const createCrud = createCrudFactory(createSvcProcedureBuilders());
const procedures = {
  grids: createCrud(grids, {
    allowedFilters: [
      "cells",
      "sizes",
      "times",
      "day",
      "days",
      "notes",
      "big",
      "ratio",
      "ratios",
      "small",
      "smalls",
      "title",
    ],
    methods: ["list"],
  }),
};
const [crud] = defineApi({ procedures })["~svc"].crud;
const notice = (filters: object) =>
  noteIgnored(pino({ level: "silent" }), { name: "grids.list", crud }, { filters })?.replace(/^.* the filter /, "");

test.each<[filters: object, notice: string | undefined]>([
  [{ cells: [[1, 2]] }, '"cells": an array of arrays can only be compared with null.'],
  [{ cells: [1, 2] }, '"cells": an array of arrays can only be compared with null.'],
  [{ cells: [] }, '"cells": an array of arrays can only be compared with null.'],
  [{ notes: { op: "ne", value: [["a"]] } }, '"notes": an array of arrays can only be compared with null.'],
  [{ sizes: [1, "NaN"] }, '"sizes": each item of its value must be a finite number.'],
  [
    { times: { op: "ne", value: ["infinity"] } },
    '"times": each item of its value must be an ISO 8601 timestamp, with an hour from 00 to 23.',
  ],
  [
    { times: ["2026-01-01T24:00:00Z"] },
    '"times": each item of its value must be an ISO 8601 timestamp, with an hour from 00 to 23.',
  ],
  [{ day: { op: "gt", value: "2026-01-01T24:00:00Z" } }, '"day": its value must be a date as YYYY-MM-DD.'],
  [{ ratio: { op: "lt", value: 3.5e38 } }, '"ratio": its value must be a number that a real can hold.'],
  [{ ratio: { op: "in", value: [1, null, -1e39] } }, '"ratio": its value must be a number that a real can hold.'],
  [{ ratios: [1, 1e39] }, '"ratios": each item of its value must be a number that a real can hold.'],
  [{ ratio: 3.4028234663852886e38, ratios: [1e-50, 3.4e38] }, undefined],
  [{ smalls: [32768] }, '"smalls": each item of its value must be an integer between -32768 and 32767.'],
  [{ small: 32768, smalls: [32767] }, undefined],
  [{ title: { op: "like", value: "a\\" } }, '"title": its pattern ends in a single \\.'],
  [{ title: { op: "ilike", value: "a\\\\\\" } }, '"title": its pattern ends in a single \\.'],
  [{ title: { op: "like", value: "a\\\\" } }, undefined],
  [
    { big: 2 ** 53 },
    '"big": its value must be a whole number of 64 bits, as a decimal string, a bigint or a safe integer.',
  ],
  [{ big: 2.5 }, undefined],
  [{ big: { op: "lt", value: "9223372036854775807" } }, undefined],
  [{ sizes: 1 }, '"sizes": its value must be an array.'],
  [{ day: "29.3.2026" }, '"day": its value must be a date as YYYY-MM-DD.'],
  [{ day: new Date(0) }, undefined], // the day in UTC
  [{ day: { op: "in", value: ["2026-03-29", "2026-03-29T22:30:00Z"] }, days: [new Date(0), "2026-03-29"] }, undefined],
  [{ cells: null, sizes: [], times: ["2026-01-01", null] }, undefined],
])("%o", async (filters, expected) => {
  expect(notice(filters)).toBe(expected);
  const columns = JSON.parse(resourceJson(crud as CrudDefinition)).filters;
  const [row] = await db.sql("select svc_hidden.filter_sql($1, $2) as condition", [columns, toFilterJson(filters)]);
  expect(row?.condition === null).toBe(expected !== undefined);
});
