/**
 * Decodes text as UTF-8, UTF-16, CP949 with EUC-KR, Shift_JIS or Windows-1252. It refuses bytes that fit none of them,
 * because mojibake would go unnoticed.
 */
import iconv from "iconv-lite";
import { unreadable } from "../../text/refusals.ts";

/** @throws SvcError DOCUMENT_UNREADABLE when no encoding fits the bytes */
export function decodeText(bytes: Buffer): string {
  const marked = decodeMarked(bytes);
  if (marked !== null) return marked;
  const utf16 = guessUtf16(bytes);
  const text = utf16 ? decode(bytes, utf16) : (decode(bytes, "utf-8") ?? decodeLegacy(bytes));
  // Text has no control characters: this is a binary file.
  if (text === null || isBinary(text)) {
    throw unreadable("The text's encoding is not supported (Johab and binary files are not supported either).");
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

/** Decodes with iconv, because Node's decoder of EUC-KR lacks CP949's additions. */
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

/**
 * Detects UTF-16 without a byte order mark. Only in UTF-16 does text contain zero bytes: every space and line end has
 * one, always in the same half of the pair.
 */
function guessUtf16(bytes: Buffer): string | null {
  const sample = bytes.subarray(0, 65_536);
  const zeros: [even: number, odd: number] = [0, 0];
  for (let at = 0; at < sample.length; at++) if (sample[at] === 0) zeros[at % 2 === 0 ? 0 : 1]++;
  const [even, odd] = zeros;
  if (even === odd || bytes.length % 2 === 1) return null;
  const encoding = odd > even ? "utf-16le" : "utf-16be";
  const text = decode(sample, encoding) ?? "";
  const usual = text.match(
    /[\p{ASCII}\p{scx=Latn}\p{scx=Hang}\p{scx=Hani}\p{scx=Kana}\p{scx=Cyrl}\p{scx=Grek}\p{P}]/gu,
  );
  return (usual?.length ?? 0) > text.length * 0.95 ? encoding : null;
}

function decodeLegacy(bytes: Buffer): string | null {
  const korean = decodePairs(bytes, "cp949");
  const japanese = decodePairs(bytes, "cp932");
  const western = decode(bytes, "windows-1252");
  const ranked = [
    { text: korean, likelihood: korean === null || !looksKorean(korean) ? 0 : koreanLikelihood(bytes) },
    { text: japanese, likelihood: japanese === null ? 0 : japaneseLikelihood(japanese) },
    { text: western, likelihood: western === null ? 0 : westernLikelihood(western) },
  ].sort((one, other) => other.likelihood - one.likelihood);
  const [best] = ranked;
  return best && best.likelihood >= 0.6 ? best.text : null;
}

/** The share of pairs inside KS X 1001. CP949's additions are rare in real text, but frequent in Johab read as CP949. */
function koreanLikelihood(bytes: Buffer): number {
  let pairs = 0;
  let standard = 0;
  for (let at = 0; at < bytes.length - 1; at++) {
    const [lead = 0, trail = 0] = [bytes[at], bytes[at + 1]];
    if (lead < 0x81) continue;
    pairs++;
    // Symbols, kana and Hangul come first, then Hanja; the rows in between are empty.
    if (trail >= 0xa1 && (lead <= 0xac || (lead >= 0xb0 && lead <= 0xfd)) && lead >= 0xa1) standard++;
    at++;
  }
  return pairs === 0 ? 0 : standard / pairs;
}

/** Syllables that most Korean text consists of. */
const everyday = new Set(
  "이다는의에을가지고하로은한서를기도사리자대인그시어나해정아있일부으라장보수과제여전만면상조들주니었했요것적국관성원구공동세와게안오스연당우치선년월본할거며까려모학회경재번호명름김박최방법중문소계생비무용산내교분화발현신개위실물등표합된될영",
);

/**
 * Detects real Korean. Chinese and Japanese use the same bytes for other characters; read as Korean they give syllables
 * that no text contains.
 */
function looksKorean(text: string): boolean {
  const syllables = text.match(/[가-힣]/g) ?? [];
  const others = text.match(/[^\p{ASCII}가-힣]/gu)?.length ?? 0;
  const usual = syllables.filter((one) => everyday.has(one)).length;
  const share = usual / (syllables.length || 1);
  // In text with many Hanja, the Hangul are mostly endings.
  return share >= (others > syllables.length ? 0.6 : 0.3);
}

/** Counts full-width kana and kanji. Half-width katakana do not count: other encodings read as Shift_JIS give them. */
function japaneseLikelihood(text: string): number {
  const foreign = text.match(/\P{ASCII}/gu) ?? [];
  const good = text.match(/[\u3000-\u30ff\u4e00-\u9fff\uff01-\uff5e]/g)?.length ?? 0;
  const half = text.match(/[\uff61-\uff9f]/g)?.length ?? 0;
  return foreign.length === 0 ? 0 : (good - half) / foreign.length - 0.05;
}

/**
 * Western text has few non-ASCII characters, alone or in pairs, and they are letters or common punctuation. Eastern
 * encodings read as Windows-1252 give other signs.
 */
function westernLikelihood(text: string): number {
  const high = text.match(/\P{ASCII}/gu)?.length ?? 0;
  const good = text.match(
    /(?<!\P{ASCII})[\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ffŒœŠšŽžŸ‘’“”„–—…•€£§©®°·«»¡¿]{1,2}(?!\P{ASCII})/gu,
  );
  const share = (good ?? []).join("").length / (high || 1);
  return high > 0 && high <= text.length / 5 && share >= 0.9 ? 0.85 : 0;
}

function isBinary(text: string): boolean {
  const controls = text.slice(0, 65_536).match(/(?!\s)\p{Cc}/gu)?.length ?? 0;
  return controls > Math.max(2, Math.min(text.length, 65_536) / 200);
}
