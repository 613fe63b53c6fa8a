// If this file fails, an application built as in docs/how-to/nearby.md misses places, shows those of others, or reads all of them.
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { migrate } from "../../src/migrate/migrate.ts";
import { root } from "../support/global-setup.ts";
import { documented } from "./documented.ts";

const page = "docs/how-to/nearby.md";
const { db, folder, post, person, call, lint } = documented(page);
const again = () => migrate({ adminUrl: db.url("admin"), platform: root, application: folder });

beforeAll(async () => {
  const text = await readFile(join(root, page), "utf8");
  const migration = /`(migrations\/0002_on_earth\.sql)` yourself:\n\n```sql\n([\s\S]*?)^```$/m.exec(text);
  await writeFile(join(folder, migration?.[1] ?? ""), migration?.[2] ?? "");
  await again();
});

interface Place {
  id: string;
  lat: number;
  lng: number;
  distance: number;
}

/** By vectors, where the page uses haversines. */
function metres(a: readonly [number, number], b: readonly [number, number]): number {
  const [one, two] = [vector(...a), vector(...b)];
  return 2 * 6371008.8 * Math.asin(Math.hypot(...one.map((value, at) => value - (two[at] ?? 0))) / 2);
}

function vector(lat: number, lng: number): number[] {
  const [phi, lambda] = [(lat * Math.PI) / 180, (lng * Math.PI) / 180];
  return [Math.cos(phi) * Math.cos(lambda), Math.cos(phi) * Math.sin(lambda), Math.sin(phi)];
}

const points: [what: string, lat: number, lng: number][] = [
  ["a town", 52.5, 13.4],
  ["the equator", 0, 0],
  ["both sides of the 180th meridian", -17, 179.99],
  ["the 180th meridian itself", 65, -180],
  ["near a pole", 89.8, 40],
  ["the pole", -90, 0],
];

test.for(points)(
  "around %s: each place within the radius once, the nearest first, by pages",
  async ([what, lat, lng]) => {
    const ann = await person(what.replaceAll(/\W/g, ""));
    // On rings of up to 1.3 times the radius, all around.
    const rows = await db.sql<{ id: string; lat: number; lng: number }>(
      `insert into places (user_id, name, lat, lng)
     select $1, n::text, lat, lng from generate_series(1, 120) n
      cross join lateral (select radians(n * 67 % 360) as way, n * 50000 / 91.5 / 6371008.8 as far, radians($2::float8) as phi) a
      cross join lateral (select asin(sin(phi) * cos(far) + cos(phi) * sin(far) * cos(way)) as theta) b
      cross join lateral (select degrees(theta) as lat,
        mod((540 + $3::float8 + degrees(atan2(sin(way) * sin(far) * cos(phi), cos(far) - sin(phi) * sin(theta))))::numeric, 360)::float8 - 180 as lng) c
     returning id, lat, lng`,
      [ann.user.id, lat, lng],
    );
    const expected = rows
      .map((row) => ({ ...row, distance: metres([lat, lng], [row.lat, row.lng]) }))
      .filter(({ distance }) => distance <= 50_000)
      .sort((a, b) => a.distance - b.distance);
    expect(expected.length).toBe(91);
    const seen: Place[] = [];
    for (let cursor: string | null = null; ; ) {
      const args: object = { lat, lng, radius: 50_000, cursor };
      const { status, body } = await call("query", ann.token, "places.near", args);
      expect(status).toBe(200);
      seen.push(...body.json.data);
      cursor = body.json.nextCursor;
      if (cursor === null) break;
    }
    expect(seen.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
    for (const [at, { distance }] of seen.entries()) expect(distance).toBeCloseTo(expected[at]?.distance ?? 0, 2);
    const nearest = await call("query", ann.token, "places.nearest", { lat, lng, limit: 100 });
    const mine = new Set(rows.map(({ id }) => id));
    expect(nearest.body.json.map(({ id }: Place) => id).filter((id: string) => mine.has(id))).toEqual(
      rows
        .map((row) => ({ ...row, distance: metres([lat, lng], [row.lat, row.lng]) }))
        .sort((a, b) => a.distance - b.distance)
        .slice(0, 100)
        .map(({ id }) => id),
    );
  },
);

test("private places of others are near to nobody, public ones to everybody", async () => {
  const [bob, cat] = await Promise.all(["bob", "cat"].map(person));
  const [lat, lng] = [10, 10];
  for (const isPublic of [true, false])
    await call("mutation", bob.token, "places.create", {
      name: isPublic ? "Inn" : "Home",
      lat,
      lng: lng + 0.001,
      isPublic,
    });
  for (const [token, names] of [
    [bob.token, ["Home", "Inn"]],
    [cat.token, ["Inn"]],
    [undefined, ["Inn"]],
  ] as const) {
    for (const [name, args] of [
      ["places.near", { lat, lng, radius: 1000 }],
      ["places.nearest", { lat, lng, limit: names.length }],
    ] as const) {
      const { body } = await post("/api/query", { name, args }, token);
      const found: { name: string }[] = body.json.data ?? body.json;
      expect(found.map((one) => one.name).toSorted()).toEqual(names);
    }
  }
});

test.for([
  { lat: 91, lng: 0, radius: 1 },
  { lat: 0, lng: 181, radius: 1 },
  { lat: "0", lng: 0, radius: 1 },
  { lat: 0, lng: 0, radius: 50_001 },
  { lat: 0, lng: 0, radius: 0 },
  { lat: 0, lng: 0, radius: 1, cursor: "x" },
  { lat: 0, lng: 0, radius: 1, cursor: "1 2 3" },
])("%o is refused", async (args) => {
  const { status, body } = await post("/api/query", { name: "places.near", args });
  expect([status, body.code]).toEqual([400, "VALIDATION_FAILED"]);
});

test("a latitude out of range is refused by the table, too", async () => {
  const { token } = await person("dan");
  expect((await call("mutation", token, "places.create", { name: "x", lat: 91, lng: 0 })).status).toBe(400);
});

test("the indexes serve a caller who does not see all rows, except for the one that the page warns of", async () => {
  const eve = await person("eve");
  await db.sql(
    `insert into places (user_id, name, lat, lng, is_public)
     select 'other', n::text, 40 + n % 401 / 1000.0, 20 + n % 601 / 1000.0, n % 10 = 0 from generate_series(1, 20000) n`,
  );
  const admin = await db.connect("admin");
  await admin.query("analyze places");
  const client = await db.connect("request");
  const plan = async (text: string) => {
    await client.query("begin");
    await client.query("select set_config('svc.user_id', $1, true), set_config('role', 'svc_authenticated', true)", [
      eve.user.id,
    ]);
    const { rows } = await client.query(`explain (costs off) select id from places ${text}`);
    await client.query("rollback");
    return rows.map((row) => row["QUERY PLAN"]).join("\n");
  };
  const distance = "public.metres(40.2, 20.3, lat, lng)";
  const box = "lat between 40.19 and 40.21 and lng between 20.29 and 20.31";
  expect(await plan(`where ${box} and ${distance} <= 1000 order by ${distance}, id limit 20`)).toMatch(
    /Index Cond: \(\(lat >= .* AND \(lng >= /,
  );
  const here = "public.on_earth(40.2, 20.3)";
  expect(await plan(`order by public.on_earth(lat, lng) operator(extensions.<->) ${here} limit 20`)).toContain(
    "Index Scan using places_on_earth",
  );
  const cube = `extensions.cube_enlarge(${here}, 0.0001, 3)`;
  expect(await plan(`where public.on_earth(lat, lng) operator(extensions.<@) ${cube}`)).toContain("Seq Scan");
});

test("an extension that is not trusted is refused, and the message says who creates it", async () => {
  expect(await db.sql("select extowner::regrole::text as owner from pg_extension where extname = 'cube'")).toEqual([
    { owner: "svc_owner" },
  ]);
  const file = join(folder, "migrations/0003_other.sql");
  await writeFile(file, "create extension pageinspect schema extensions;");
  await expect(again()).rejects.toThrow(
    /0003_other\.sql:1: permission denied to create extension "pageinspect"\n.*\n {2}Migrations run as svc_owner\. An administrator runs this statement before/,
  );
  await rm(file);
});

test("the linter has nothing against it", async () => {
  expect(await lint()).toEqual([]);
});
