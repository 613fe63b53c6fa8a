// If this file fails, a client that was generated from /openapi.json cannot send files.
import { expect, test } from "vitest";
import { procedure } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { apiWith, service } from "../support/service.ts";

let arrived: unknown;
const receive = procedure.mutation
  .name("wire.receive")
  .allowAnonymous()
  .handler(({ input }) => {
    arrived = input;
  });
const svc = service(database(), apiWith({ procedures: { receive } }));

const file = (name: string) => new File([name], name);
async function send(data: string | Blob, ...files: [part: string, file: File][]) {
  arrived = undefined;
  const body = new FormData();
  body.set("data", data);
  for (const [part, one] of files) body.append(part, one);
  return svc.fetch("/api/mutation/wire.receive", { method: "POST", body });
}
const data = (args?: unknown) => JSON.stringify({ json: { args } });

/** The arguments, with the name of each file in its place. */
const seen = () =>
  JSON.parse(JSON.stringify(arrived, (_key, value) => (value instanceof File ? `file ${value.name}` : value)) ?? "{}");

test("a file is the argument whose name its part has, several are a list, and so is one in the place of a list", async () => {
  const sent: [args: unknown, parts: string[], expected: object][] = [
    [{ id: 7 }, ["photo"], { id: 7, photo: "file photo" }],
    [{ id: 7, photo: null }, ["photo"], { id: 7, photo: "file photo" }],
    [undefined, ["photo", "cover"], { photo: "file photo", cover: "file cover" }],
    [{}, ["photos", "photos"], { photos: ["file photos", "file photos"] }],
    [{ photos: [] }, ["photos"], { photos: ["file photos"] }],
  ];
  for (const [args, parts, expected] of sent) {
    const { status } = await send(data(args), ...parts.map((part): [string, File] => [part, file(part)]));
    expect([status, seen()]).toEqual([200, expected]);
  }
});

test("the arguments may come as a file, as generated code sends JSON", async () => {
  const json = new Blob([data({ id: 7 })], { type: "application/json" });
  expect((await send(json, ["photo", file("photo")])).status).toBe(200);
  expect(seen()).toEqual({ id: 7, photo: "file photo" });
});

test("a text beside a file of the same name is no argument, as without the file", async () => {
  const body = new FormData();
  body.set("data", data({}));
  body.append("photo", "text");
  body.append("photo", file("photo"));
  expect((await svc.fetch("/api/mutation/wire.receive", { method: "POST", body })).status).toBe(200);
  expect(seen()).toEqual({ photo: "file photo" });
});

test("parts that maps place are not arguments of their own", async () => {
  const mapped = JSON.stringify({ json: { args: { photo: null } }, maps: [["args", "photo"]] });
  await send(mapped, ["0", file("zero")]);
  expect(seen()).toEqual({ photo: "file zero" });
});

test("a file takes the place of no other value, and no name reaches a prototype", async () => {
  for (const args of [{ photo: "text" }, [1], "text"]) {
    const { status, body } = await send(data(args), ["photo", file("photo")]);
    expect([status, body.code, body.hint]).toEqual([400, "BAD_REQUEST", expect.stringContaining("`photo`")]);
  }
  const map = { json: { args: [["id", 7]] }, meta: [[7, "args"]] };
  const whole = { json: { args: null }, maps: [["args"]] };
  for (const args of [map, whole]) {
    const { status, body } = await send(JSON.stringify(args), ["0", file("zero")], ["photo", file("photo")]);
    expect([status, body.code]).toEqual([400, "BAD_REQUEST"]);
  }
  await send(data({}), ["__proto__", file("x")]);
  expect(Object.getPrototypeOf(arrived)).toBe(Object.prototype);
  expect(Object.keys(arrived as object)).toEqual(["__proto__"]);
});
