/** Detects the format of an image by its first bytes. Next hop: `create-ai.ts`. */

const signs: [RegExp, string][] = [
  [/^\x89PNG\r\n/, "image/png"],
  [/^\xff\xd8\xff/, "image/jpeg"],
  [/^GIF8/, "image/gif"],
  [/^RIFF....WEBP/s, "image/webp"],
  [/^....ftypavi[fs]/s, "image/avif"],
  [/^....ftyp(hei[cx]|mif1)/s, "image/heic"],
];

/** The media type of an image; undefined for any other file. */
export function imageTypeOf(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 16)).toString("latin1");
  return signs.find(([sign]) => sign.test(head))?.[1];
}
