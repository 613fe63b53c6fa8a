/**
 * Text of any encoding as a string: UTF-8, UTF-16, CP949 with EUC-KR, Shift_JIS, Windows-1252. What none of them explains
 * is refused: mojibake that nobody notices is worse than an error.
 */
import iconv from "iconv-lite";
import { unreadable } from "./refusals.ts";

/** @throws SvcError DOCUMENT_UNREADABLE when no encoding explains the bytes */
export function decodeText(bytes: Buffer): string {
  const marked = decodeMarked(bytes);
  if (marked !== null) return marked;
  const utf16 = guessUtf16(bytes);
  const text = utf16 ? decode(bytes, utf16) : (decode(bytes, "utf-8") ?? decodeLegacy(bytes));
  // Control characters are no text: what decoded is a binary file.
  if (text === null || isBinary(text)) {
    throw unreadable("The text's encoding is not known here (Johab is not read, nor are binary files).");
  }
  return text;
}

function decode(bytes: Buffer, encoding: string): string | null {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Node's own decoder of EUC-KR lacks what CP949 adds. */
function decodePairs(bytes: Buffer, encoding: "cp949" | "cp932"): string | null {
  const text = iconv.decode(bytes, encoding);
  return text.includes("\ufffd") ? null : text;
}

function decodeMarked(bytes: Buffer): string | null {
  const [a, b, c] = bytes;
  if (a === 0xef && b === 0xbb && c === 0xbf) return decode(bytes, "utf-8");
  if (a === 0xff && b === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (a === 0xfe && b === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  return null;
}

/** Without a mark: text of mostly Latin letters has a zero in every other byte. */
function guessUtf16(bytes: Buffer): string | null {
  const sample = bytes.subarray(0, 4096);
  const zeros = [0, 0];
  for (let at = 0; at < sample.length; at++) if (sample[at] === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  if (odd > sample.length / 8 && even === 0) return "utf-16le";
  return even > sample.length / 8 && odd === 0 ? "utf-16be" : null;
}

function decodeLegacy(bytes: Buffer): string | null {
  const korean = decodePairs(bytes, "cp949");
  const japanese = decodePairs(bytes, "cp932");
  const ranked = [
    { text: korean, likelihood: korean === null ? 0 : koreanLikelihood(bytes) },
    { text: japanese, likelihood: japanese === null ? 0 : japaneseLikelihood(japanese) },
    { text: decode(bytes, "windows-1252"), likelihood: westernLikelihood(bytes) },
  ].sort((one, other) => other.likelihood - one.likelihood);
  const [best] = ranked;
  return best && best.likelihood >= 0.6 ? best.text : null;
}

/** The share of pairs inside KS X 1001. CP949's additions are rare in real text; Johab read as CP949 is full of them. */
function koreanLikelihood(bytes: Buffer): number {
  let pairs = 0;
  let standard = 0;
  for (let at = 0; at < bytes.length - 1; at++) {
    const [lead = 0, trail = 0] = [bytes[at], bytes[at + 1]];
    if (lead < 0x81) continue;
    pairs++;
    // Rows of symbols, kana and Hangul, then those of Hanja; what lies between is empty.
    if (trail >= 0xa1 && (lead <= 0xac || (lead >= 0xb0 && lead <= 0xfd)) && lead >= 0xa1) standard++;
    at++;
  }
  return pairs === 0 ? 0 : standard / pairs;
}

/** Kana of full width and kanji; half-width katakana are what other encodings look like when read as Shift_JIS. */
function japaneseLikelihood(text: string): number {
  const foreign = text.match(/\P{ASCII}/gu) ?? [];
  const good = text.match(/[\u3000-\u30ff\u4e00-\u9fff\uff01-\uff5e]/g)?.length ?? 0;
  const half = text.match(/[\uff61-\uff9f]/g)?.length ?? 0;
  return foreign.length === 0 ? 0 : (good - half) / foreign.length - 0.05;
}

/** Accents are rare, and stand between letters. */
function westernLikelihood(bytes: Buffer): number {
  let high = 0;
  let alone = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x80) continue;
    high++;
    if ((bytes[at - 1] ?? 0) < 0x80 && (bytes[at + 1] ?? 0) < 0x80 && byte >= 0x91) alone++;
  }
  return high > bytes.length / 5 || high === 0 ? 0 : (alone / high) * 0.9;
}

function isBinary(text: string): boolean {
  const controls = text.slice(0, 65_536).match(/(?!\s)\p{Cc}/gu)?.length ?? 0;
  return controls > Math.max(2, Math.min(text.length, 65_536) / 200);
}
