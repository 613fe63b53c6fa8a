/** A tus client for the tests of uploads, and a check for bytes without a row and rows without bytes. */

import type pg from "pg";
import type { StorageDriver } from "../../src/storage/drivers/driver.ts";
import { sweepStorage } from "../../src/storage/sweep.ts";
import { verifyStorage } from "../../src/storage/verify.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { bearer, type TestService, type User } from "./service.ts";

export const collection = "/api/storage/uploads";
export const tus = { "tus-resumable": "1.0.0" };

/** Metadata in the form of its header. */
export const metadata = (values: Record<string, string>) =>
  Object.entries(values)
    .map(([key, value]) => `${key} ${Buffer.from(value).toString("base64")}`)
    .join(",");

export function create(service: TestService, user: User | null, size: number | string, values = {}) {
  const headers = { ...tus, ...bearer(user), "upload-length": String(size), "upload-metadata": metadata(values) };
  return service.fetch(collection, { method: "POST", headers });
}

/** Begins an upload. @returns its id */
export async function begun(service: TestService, user: User, size: number, values = {}): Promise<string> {
  const { status, body, headers } = await create(service, user, size, values);
  if (status !== 201) throw new Error(`Beginning failed with ${status}: ${JSON.stringify(body)}`);
  return headers.get("location")?.slice(collection.length + 1) ?? "";
}

export function patch(
  service: TestService,
  user: User | null,
  id: string,
  offset: number | string,
  body: BodyInit,
  headers: Record<string, string> = {},
) {
  const type = { "content-type": "application/offset+octet-stream" };
  return service.fetch(`${collection}/${id}`, {
    method: "PATCH",
    headers: { ...tus, ...type, ...bearer(user), "upload-offset": String(offset), ...headers },
    body,
    ...(body instanceof ReadableStream && { duplex: "half" }),
  } as RequestInit);
}

export const head = (service: TestService, user: User | null, id: string) =>
  service.fetch(`${collection}/${id}`, { method: "HEAD", headers: { ...tus, ...bearer(user) } });

/** The offset at which the service continues an upload; null without one. */
export async function offsetOf(service: TestService, user: User, id: string): Promise<number | null> {
  const { status, headers } = await head(service, user, id);
  return status === 200 ? Number(headers.get("upload-offset")) : null;
}

/** Pseudo-random bytes, the same each time. */
export function pattern(size: number, seed = 1): Buffer {
  const bytes = Buffer.allocUnsafe(size);
  let state = seed * 2_654_435_761;
  for (let at = 0; at < size; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
}

/** Violations after a sweep: rows with wrong bytes, and bytes without a row. */
export async function broken(driver: StorageDriver, pool: pg.Pool): Promise<string[]> {
  await sweepStorage({ driver, pool, log: createLog("fatal") }, -1000);
  const wrong: string[] = [];
  for await (const { id, damage } of verifyStorage(driver, pool)) if (damage) wrong.push(`${id}: ${damage}`);
  const { rows } = await pool.query(
    `select 'objects/' || coalesce(bytes_id, id) as key from svc.storage_objects
     union all select 'uploads/' || u.id from svc.storage_uploads u`,
  );
  const known = new Set(rows.map(({ key }) => key));
  for (const area of ["objects/", "uploads/"]) {
    for await (const { key } of driver.list(area)) {
      const [folder, id] = key.split("/");
      if (!known.has(`${folder}/${id}`)) wrong.push(`${key}: no row`);
    }
  }
  return wrong;
}
