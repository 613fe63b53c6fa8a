/** Origins as they are written in options. */

/** Names of a developer's own machine, where there is no https. */
const thisMachine = /^http:\/\/(localhost|127\.0\.0\.1)(:\d+)?$/;

/** Whether browsers would drop a secure cookie. */
export const isThisMachine = (origin: string): boolean => thisMachine.test(origin);

/**
 * @param option its name, for the message
 * @throws TypeError for anything but scheme, host and port; a slash at the end may stay
 */
export function bareOrigin(value: string, option: string): string {
  const origin = typeof value === "string" ? value.replace(/\/$/, "") : "";
  const isBare = /^https?:\/\//.test(origin) && URL.canParse(origin) && new URL(origin).origin === origin;
  if (isBare) return origin;
  throw new TypeError(`${option} must be an origin such as https://app.example.com, without a path.`);
}
