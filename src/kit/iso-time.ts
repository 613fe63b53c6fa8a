/**
 * Reads times and dates in ISO 8601. JavaScript alone reads one without an offset in the time zone of the process, and
 * February 30 as a day in March.
 */
const isoDate = /^\d{4,6}-\d\d-\d\d$/;
const isoTimestamp = /^\d{4,6}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d)?)?$/;

export const isIsoDate = (text: string): boolean => isoDate.test(text) && exists(text);

/** @param text of a timestamp, or of a date, which is its first moment */
export const isIsoTime = (text: string): boolean => (isoTimestamp.test(text) || isoDate.test(text)) && exists(text);

/** JavaScript reads February 30 as a day in March. PostgreSQL has no year 0 and no offset of 16 hours. */
function exists(text: string): boolean {
  const [, year = 0, month = 0, day = 0] = /^(\d+)-(\d\d)-(\d\d)/.exec(text)?.map(Number) ?? [];
  const days = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
  // Of any year: JavaScript ends before PostgreSQL.
  const isClock = !Number.isNaN(dateOf(text.replace(/^\d+/, "2000")).getTime());
  return year > 0 && year <= 294_276 && day <= days && !/:.*[+-](1[6-9]|2\d)/.test(text) && isClock;
}

/** @param text of a timestamp or date: without an offset it is in UTC, as PostgreSQL reads it */
export function dateOf(text: string): Date {
  const [, year = "", day, clock = "00:00", offset = "Z"] =
    /^(\d+)(-\d\d-\d\d)(?:[T ]([\d:.]+)(.+)?)?$/.exec(text) ?? [];
  const zone = offset.replace(/^([+-]\d\d):?(\d\d)?$/, (_, hours, minutes = "00") => `${hours}:${minutes}`);
  return new Date(`${year.length > 4 ? `+${year.padStart(6, "0")}` : year}${day}T${clock}${zone}`);
}
