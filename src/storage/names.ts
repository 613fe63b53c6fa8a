/** Makes an uploaded file's name fit for display and for headers. It never becomes part of a path. */

import { unshowable } from "../kit/showable-text.ts";

/** In bytes of UTF-8, as in the column's check. */
const maxBytes = 255;

/** @returns the last part of a path, without unshowable characters, at most 255 bytes; "file" when nothing is left */
export function cleanName(given: string): string {
  const last = given.replace(unshowable, "").toWellFormed().split(/[/\\]/).at(-1)?.trim() ?? "";
  const name = shorten(last);
  return name === "" || name === "." || name === ".." ? "file" : name;
}

/** Cuts before the extension, which tells the file's type. */
function shorten(name: string): string {
  if (Buffer.byteLength(name) <= maxBytes) return name;
  const dot = name.lastIndexOf(".");
  const extension = dot > 0 && name.length - dot <= 16 ? name.slice(dot) : "";
  // More characters never fit, and each round below copies the rest.
  let stem = (extension ? name.slice(0, dot) : name).slice(0, maxBytes);
  while (Buffer.byteLength(stem + extension) > maxBytes)
    stem = [...stem].slice(0, -Math.ceil([...stem].length / 20)).join("");
  return stem + extension;
}

/** Source: RFC 6838, section 4.2, for the two names; parameters are dropped. */
const mediaType = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/;

/** @returns the media type in lower case, "application/octet-stream" for an invalid one */
export function cleanType(given: string): string {
  const type = given.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return mediaType.test(type) ? type : "application/octet-stream";
}
