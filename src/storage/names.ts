/** Makes an uploaded file's name fit for display and for headers. It never becomes part of a path. */

/** In bytes of UTF-8, as in the column's check. */
const maxBytes = 255;

/**
 * Control characters, and marks that reverse the direction of text: with one, "exe.gpj" reads as "jpg.exe".
 * The joiners U+200C and U+200D stay: Persian and emoji are spelled with them.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
const unshowable = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

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
  let stem = extension ? name.slice(0, dot) : name;
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
