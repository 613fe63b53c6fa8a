/** Text of users that others see: in the name of a file, or in a mail. */

/**
 * Control characters, and marks that reverse the direction of text: with one, "exe.gpj" reads as "jpg.exe".
 * The joiners U+200C and U+200D stay: Persian and emoji are spelled with them.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
export const unshowable = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** One line for the header of a mail: a line break would begin another header, such as `Bcc`. */
export const onOneLine = (text: string) => text.replace(unshowable, " ").replace(/ +/g, " ").trim();
