/**
 * Whose mails and text messages are counted together: a mailbox and a telephone have many spellings.
 * Called by `attempts.ts` and `../plugins/plugin-passwords.ts`.
 */

const telephone = "phoneNumber ";

/** Whether the name of a counter is that of a telephone. */
export const isTelephone = (name: string): boolean => name.startsWith(telephone);

/** Most providers of mail deliver `ann+1@example.com` to the mailbox of `ann@example.com`. @param name normalised */
export const mailboxOf = (name: string): string => name.replace(/^([^+@]+)\+[^@]*(?=@[^@]*$)/, "$1");

/** Begins with the code of a country. Source: ITU-T E.164, annex D: one digit in the zones 1 and 7, else two or three. */
const country = /^(?:1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})/;

/**
 * The name under which texts to a number count. In international spelling (+, 00, 011 or 0011) it is the number as in E.164: without
 * separators, an extension, and the zero that is dialled within a country, `(0)`. The country of another spelling is not known:
 * its last eight digits count. What has letters or digits of other scripts counts together, since it could spell any number.
 */
export function telephoneOf(number: string): string {
  const [dialled = ""] = number
    .normalize("NFKC")
    .replace(/^\s*tel:/i, "")
    .split(/[;,#*]|ext|x\s*\d/i);
  const digits = dialled.replace(/[^\p{L}\p{N}+]/gu, "");
  const [, international] = /^(?:\+|00(?:11)?|011)+0*([1-9]\d*)$/.exec(digits) ?? [];
  if (international === undefined) return telephone + (/^\d+$/.test(digits) ? digits.slice(-8) : "");
  const [code = ""] = country.exec(international) ?? [];
  return `${telephone}+${code}${international.slice(code.length).replace(/^0+/, "")}`;
}
