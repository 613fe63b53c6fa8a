/** Whether a text is the name of a time zone, such as "Europe/Berlin", or an offset. */
export function isTimeZone(name: string): boolean {
  if (name === "UTC") return true; // needs no table of time zones
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
