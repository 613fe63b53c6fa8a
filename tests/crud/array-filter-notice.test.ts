// If this file fails, a list with a filter that its column does not take answers with all rows, and nobody says why; or
// it is said of a filter that counts.
import { date, doublePrecision, integer, pgTable, serial, timestamp } from "drizzle-orm/pg-core";
import pino from "pino";
import { expect, test } from "vitest";
import { noteIgnored } from "../../src/crud/ignored-input.ts";
import { createCrudFactory, createSvcProcedureBuilders, defineApi, openRls } from "../../src/index.ts";

const grids = pgTable(
  "grids",
  {
    id: serial("id").primaryKey(),
    cells: integer("cells").array().array(),
    sizes: doublePrecision("sizes").array(),
    times: timestamp("times", { withTimezone: true }).array(),
    day: date("day"),
    days: date("days").array(),
  },
  () => openRls({ read: "anyone", write: "nobody" }),
);
const createCrud = createCrudFactory(createSvcProcedureBuilders());
const procedures = {
  grids: createCrud(grids, { allowedFilters: ["cells", "sizes", "times", "day", "days"], methods: ["list"] }),
};
const [crud] = defineApi({ procedures })["~svc"].crud;
const notice = (filters: object) =>
  noteIgnored(pino({ level: "silent" }), { name: "grids.list", crud }, { filters })?.replace(/^.* the filter /, "");

test.each<[filters: object, notice: string | undefined]>([
  [{ cells: [[1, 2]] }, '"cells": an array of arrays can only be compared with null.'],
  [{ sizes: [1, "NaN"] }, '"sizes": each item of its value must be a finite number.'],
  [{ times: { op: "ne", value: ["infinity"] } }, '"times": each item of its value must be an ISO 8601 timestamp.'],
  [{ sizes: 1 }, '"sizes": its value must be an array.'],
  [{ day: "29.3.2026" }, '"day": its value must be a date as YYYY-MM-DD.'],
  [{ day: new Date(0) }, undefined], // the day in UTC
  [{ day: { op: "in", value: ["2026-03-29", "2026-03-29T22:30:00Z"] }, days: [new Date(0), "2026-03-29"] }, undefined],
  [{ cells: null, sizes: [], times: ["2026-01-01", null] }, undefined],
])("%o", (filters, expected) => {
  expect(notice(filters)).toBe(expected);
});
