/**
 * The form NFC of a text. A Mac may write é as two characters, and syllables of Korean as three, so that the words of a
 * document are not those of a question.
 */

/** Sorting marks takes a time that grows with the square of their number, so a text with a long run of them stays. */
const longRun = /\p{M}{31}/u;

export const composed = (text: string): string => (longRun.test(text) ? text : text.normalize("NFC"));

/** The form NFKC, in which full-width letters are plain ones too, without long runs of marks. */
export const comparable = (text: string): string => text.replaceAll(longRuns, "").normalize("NFKC");

/** The last two are letters that become marks. */
const longRuns = /[\p{M}\uff9e\uff9f]{31,}/gu;
