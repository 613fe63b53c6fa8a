/** Listed origins, and some hundred texts that resemble them. */

/** The service's own origin. */
export const own = "https://api.example.com";

export const frontendOrigins = [
  "https://app.example.com",
  "https://app.example.com:8443",
  "https://xn--mnchen-3ya.de",
  "https://[2001:db8::1]",
  "http://localhost:5173",
  "http://127.0.0.1:5173",
];
export const customDomains = ["https://shop.example.com"];
export const listed: readonly string[] = [own, ...customDomains, ...frontendOrigins];

/** The disguises of each listed origin. */
const disguises: ((origin: string, scheme: string, host: string) => string)[] = [
  // Additions before and after
  (o) => `${o}.evil.test`,
  (o) => `${o}evil.test`,
  (o) => `${o}@evil.test`,
  (o) => `${o}:80@evil.test`,
  (o) => `${o}%40evil.test`,
  (o) => `${o}%2eevil.test`,
  (o) => `${o}\\@evil.test`,
  (o) => `${o}\\.evil.test`,
  (o) => `${o}&.evil.test`,
  (o) => `${o}_.evil.test`,
  (o) => `${o}'.evil.test`,
  (o) => `${o}\u0000.evil.test`,
  (o) => `${o}\u3002evil.test`,
  (_, scheme, host) => `${scheme}://evil${host}`,
  (_, scheme, host) => `${scheme}://evil.${host}`,
  (_, scheme, host) => `${scheme}://evil-${host}`,
  (_, scheme, host) => `${scheme}://.${host}`,
  (_, scheme, host) => `${scheme}://evil.test/${host}`,
  (_, scheme, host) => `${scheme}://evil.test#${host}`,
  (_, scheme, host) => `${scheme}://evil.test?${host}`,
  (_, scheme, host) => `${scheme}://evil.test\\${host}`,
  (_, scheme, host) => `${scheme}://evil.test\t${host}`,
  (o) => `https://evil.test/?${o}`,
  (o) => `https://evil.test,${o}`,
  (o) => `${o},https://evil.test`,
  (o) => `${o}, ${o}`,
  (o) => `${o} https://evil.test`,
  (o) => `"${o}"`,
  (o) => `<${o}>`,
  // Other spellings
  (o) => o.toUpperCase(),
  (_, scheme, host) => `${scheme.toUpperCase()}://${host}`,
  (o) => `${o}.`,
  (o) => `${o}/`,
  (o) => `${o}//`,
  (o) => `${o}/.`,
  (o) => `${o}?`,
  (o) => `${o}#`,
  (o) => `${o}:`,
  (o) => `${o}:0`,
  (o) => `${o}:443`,
  (o) => `${o}:80`,
  (o) => `${o}:65536`,
  (o) => `${o}:+443`,
  (_, scheme, host) => `${scheme}:${host}`,
  (_, scheme, host) => `${scheme}:/${host}`,
  (_, scheme, host) => `${scheme}:///${host}`,
  (_, scheme, host) => `${scheme}:\\\\${host}`,
  (_, scheme, host) => `${scheme}://user@${host}`,
  (_, scheme, host) => `${scheme}://@${host}`,
  (_, scheme, host) => `${scheme}://user:password@${host}`,
  (_, _scheme, host) => `//${host}`,
  (_, _scheme, host) => `/\\${host}`,
  (_, _scheme, host) => host,
  (_, _scheme, host) => `ws://${host}`,
  (_, _scheme, host) => `ftp://${host}`,
  (_, _scheme, host) => `file://${host}`,
  (_, _scheme, host) => `javascript://${host}/%0aalert(1)`,
  (_, _scheme, host) => `data:text/html,${host}`,
  (_, _scheme, host) => `blob:https://${host}`,
  (_, _scheme, host) => `view-source:https://${host}`,
  (o) => o.replace("https://", "http://").replace("http://localhost", "https://localhost"),
  (o) => o.replace(/[aoe]/, (letter) => ({ a: "\u0430", o: "\u043e", e: "\u0435" })[letter] ?? letter),
  (o) => o.replaceAll(".", "\u3002"),
  (o) => o.replaceAll(".", "\uff0e"),
  (o) => o.replaceAll(".", "%2e"),
  (o) => o.replace("://", "%3a%2f%2f"),
  (o) => o.slice(0, -1),
  (o) => `\ufeff${o}`,
  (o) => `\u00a0${o}`,
  (o) => `${o}\u200b`,
  (o) => `${o}\u0000`,
  (o) => `\u000b${o}`,
  (o) => `${o}\n`,
  (o) => `${o}\u0085`,
];

const others = [
  ...["", " ", "null", "Null", "NULL", "undefined", "*", "true", "self", "'self'", "about:blank", "about:srcdoc"],
  ...["https://", "https:", "://", "//", "/", ".", "\\", "\u0000", "\t"],
  ...["https://*", "https://*.example.com", "https://example.com", "https://www.example.com", "https://app.example"],
  ...["https://app-example.com", "https://appxexample.com", "https://app.example.co", "https://app.example.org"],
  ...[
    "https://m\u00fcnchen.de",
    "https://m%C3%BCnchen.de",
    "https://xn--mnchen-3ya.de.evil.test",
    "https://munchen.de",
  ],
  ...["http://2130706433:5173", "http://0x7f000001:5173", "http://0177.0.0.1:5173", "http://127.1:5173"],
  ...["http://[::1]:5173", "http://[::ffff:127.0.0.1]:5173", "http://0.0.0.0:5173", "http://127.0.0.2:5173"],
  ...["http://localhost", "http://localhost:51730", "http://localhost.:5173", "http://localhost.evil.test:5173"],
  ...["https://[2001:DB8::1]", "https://[2001:db8:0:0:0:0:0:1]", "https://[2001:db8::1%25eth0]", "https://2001:db8::1"],
  ...["chrome-extension://abcdefghijklmnop", "moz-extension://abc", "capacitor://localhost", "tauri://localhost"],
  ...["javascript:alert(1)", "data:,", "blob:null", "file://", "mailto:a@example.com", "https://evil.test"],
  `https://${"a".repeat(4000)}.test`,
  `https://app.example.com${"/".repeat(4000)}`,
  `https://${"app.example.com.".repeat(200)}test`,
];

/** Every text that is not listed, without duplicates. */
export const hostile: readonly string[] = [
  ...new Set([
    ...listed.flatMap((origin) => {
      const [scheme = "", host = ""] = origin.split("://");
      return disguises.map((disguise) => disguise(origin, scheme, host));
    }),
    ...others,
  ]),
].filter((text) => !listed.includes(text));

/**
 * The received value: the protocol strips surrounding blanks, and browsers send neither these nor control characters.
 */
export const onTheWire = (text: string) => text.replace(/^[ \t\r\n]+/, "").replace(/[ \t\r\n]+$/, "");
