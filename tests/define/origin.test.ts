/** If these fail, a foreign site may call the API with a user's cookie, or the application's own frontend may not. */
import { describe, expect, it } from "vitest";
import { checkOrigin } from "../../src/config/origin.ts";

const production = { production: true };
const development = { production: false };

describe("accepted everywhere", () => {
  it.each([
    "https://app.example.com",
    "https://app.example.com:8443",
    "https://xn--mnchen-3ya.de",
    "https://[2001:db8::1]",
    "http://localhost:3000",
    "http://localhost",
    "http://127.0.0.1:5173",
  ])("%s", (origin) => {
    expect(checkOrigin(origin, production)).toEqual({ origin });
    expect(checkOrigin(origin, development)).toEqual({ origin });
  });
});

describe("plain http, which anyone on the way can rewrite", () => {
  it.each([
    ["http://app.example.com", "write https://app.example.com"],
    ["http://192.168.1.5:3000", "write https://192.168.1.5:3000"],
    ["http://localhost.evil.com", "uses http"],
    ["http://127.0.0.1.nip.io:3000", "uses http"],
    ["http://[::1]:3000", "uses http"],
  ])("%s passes in development only", (origin, reason) => {
    expect(checkOrigin(origin, development)).toEqual({ origin });
    expect(checkOrigin(origin, production).reason).toContain(reason);
  });
});

describe("refused everywhere, with the reason", () => {
  it.each([
    ["*", "has a wildcard"],
    ["https://*.example.com", "has a wildcard"],
    ["https://%2a.example.com", "not spelled as browsers send it"],
    ["https://app.example.com/", "trailing slash; write https://app.example.com"],
    ["https://app.example.com/path", "has a path"],
    ["https://app.example.com\\evil", "has a path"],
    ["https://app.example.com?", "has a query string"],
    ["https://app.example.com?a=1", "has a query string"],
    ["https://app.example.com#", "has a hash"],
    ["https://app.example.com#top", "has a hash"],
    ["https://ann@app.example.com", "has a user name or password; write https://app.example.com"],
    ["https://@app.example.com", "has a user name or password"],
    ["https://App.Example.com", "write https://app.example.com"],
    ["https://app.example.com:443", "write https://app.example.com"],
    ["http://localhost:80", "write http://localhost"],
    [" https://app.example.com", "not spelled as browsers send it"],
    ["https://app.example\n.com", "not spelled as browsers send it"],
    ["https:app.example.com", "not spelled as browsers send it"],
    ["https://münchen.de", "write https://xn--mnchen-3ya.de"],
    ["http://0x7f.1:3000", "write http://127.0.0.1:3000"],
    ["app.example.com", "is not a URL"],
    ["localhost:3000", "does not start with https://"],
    ["ftp://app.example.com", "does not start with https://"],
    ["file:///etc/passwd", "does not start with https://"],
    ["capacitor://localhost", "for an app with another scheme see docs/reference/origins.md"],
    ["https://", "is not a URL"],
    ["null", "sandboxed"],
    ["", "is not a text"],
    [undefined, "is not a text"],
    [["https://app.example.com"], "is not a text"],
    // Wildcards
    ["https://*", "has a wildcard"],
    ["*://app.example.com", "has a wildcard"],
    ["*.example.com", "has a wildcard"],
    ["https://app.*.com", "has a wildcard"],
    ["https://app.example.com:*", "has a wildcard"],
    ["http://localhost:*", "has a wildcard"],
    ["https://app.example.com/*", "has a wildcard"],
    ["https://*:password@app.example.com", "has a wildcard"],
    ["https://?.example.com", "is not a URL"],
    // Paths
    ["https://app.example.com//", "has a path"],
    ["https://app.example.com/.", "has a path or a trailing slash"],
    ["https://app.example.com/..", "has a path or a trailing slash"],
    ["https://app.example.com/./", "has a path or a trailing slash"],
    ["https://app.example.com/index.html", "has a path"],
    ["https://app.example.com/%2e", "has a path or a trailing slash"],
    ["https://app.example.com/;a=b", "has a path"],
    ["https://app.example.com\\", "has a path or a trailing slash"],
    ["http://localhost:3000/", "trailing slash; write http://localhost:3000"],
    ["http://127.0.0.1:3000/app", "has a path"],
    ["https://[::1]/", "has a path or a trailing slash"],
    // Query strings and hashes
    ["https://app.example.com/?", "has a query string"],
    ["https://app.example.com/?a=1", "has a query string"],
    ["https://app.example.com?@evil.test", "has a user name or password"],
    ["https://app.example.com?#", "has a hash"],
    ["https://app.example.com/#", "has a hash"],
    ["https://app.example.com#?a", "has a hash"],
    ["http://localhost:3000?x", "has a query string"],
    ["http://localhost:3000#x", "has a hash"],
    // User names and passwords
    ["https://ann:secret@app.example.com", "has a user name or password"],
    ["https://:secret@app.example.com", "has a user name or password"],
    ["https://app.example.com@evil.test", "has a user name or password; write https://evil.test"],
    ["https://app.example.com:443@evil.test", "has a user name or password; write https://evil.test"],
    ["https://a@b@app.example.com", "has a user name or password"],
    ["https://ann%40app.example.com", "is not a URL"],
    ["http://ann@localhost:3000", "has a user name or password"],
    // Schemes
    ["//app.example.com", "is not a URL"],
    ["://app.example.com", "is not a URL"],
    ["/app.example.com", "is not a URL"],
    ["ws://app.example.com", "does not start with https://"],
    ["wss://app.example.com", "does not start with https://"],
    ["javascript:alert(1)", "does not start with https://"],
    ["javascript://app.example.com", "does not start with https://"],
    ["data:text/html,x", "does not start with https://"],
    ["blob:https://app.example.com/1", "does not start with https://"],
    ["about:blank", "does not start with https://"],
    ["mailto:ann@example.com", "does not start with https://"],
    ["chrome-extension://abcdefgh", "does not start with https://"],
    ["tauri://localhost", "does not start with https://"],
    ["httpss://app.example.com", "does not start with https://"],
    ["app.example.com:443", "does not start with https://"],
    ["127.0.0.1:3000", "is not a URL"],
    // Spellings
    ["HTTPS://app.example.com", "write https://app.example.com"],
    ["https://APP.EXAMPLE.COM", "write https://app.example.com"],
    ["https:///app.example.com", "write https://app.example.com"],
    ["https:/app.example.com", "write https://app.example.com"],
    ["https:\\\\app.example.com", "write https://app.example.com"],
    ["https://app.example.com:", "write https://app.example.com"],
    ["https://app.example.com:0443", "write https://app.example.com"],
    ["https://app.example.com:08443", "write https://app.example.com:8443"],
    ["https://app.example.com ", "write https://app.example.com"],
    ["https://app.example.com\t", "write https://app.example.com"],
    ["https://app.example.com\n", "write https://app.example.com"],
    ["\u0000https://app.example.com", "write https://app.example.com"],
    ["https://app\u3002example\u3002com", "write https://app.example.com"],
    ["https://app\uff0eexample.com", "write https://app.example.com"],
    ["https://app.example%2ecom", "write https://app.example.com"],
    ["https://%61pp.example.com", "write https://app.example.com"],
    ["https://xn--MNCHEN-3ya.de", "write https://xn--mnchen-3ya.de"],
    ["https://\u0430pp.example.com", "write https://xn--pp-6kc.example.com"],
    ["https://[2001:DB8::1]", "write https://[2001:db8::1]"],
    ["https://[2001:db8:0:0:0:0:0:1]", "write https://[2001:db8::1]"],
    ["https://[::ffff:127.0.0.1]", "write https://[::ffff:7f00:1]"],
    ["http://2130706433:3000", "write http://127.0.0.1:3000"],
    ["http://0177.0.0.1:3000", "write http://127.0.0.1:3000"],
    ["http://127.1:3000", "write http://127.0.0.1:3000"],
    ["http://127.0.0.1:80", "write http://127.0.0.1"],
    ["http://LOCALHOST:3000", "write http://localhost:3000"],
    // No URLs
    ["https://app.example.com:99999", "is not a URL"],
    ["https://app.example.com:-1", "is not a URL"],
    ["https://app.example.com:44a", "is not a URL"],
    ["https://app example.com", "is not a URL"],
    ["https://app.example.com, https://www.example.com", "is not a URL"],
    ["https://[2001:db8::1", "is not a URL"],
    ["https://[2001:db8::1%25eth0]", "is not a URL"],
    ["https://256.256.256.256", "is not a URL"],
    ["https://app<example>.com", "is not a URL"],
    [" ", "is not a URL"],
    ["self", "is not a URL"],
    // No texts
    [null, "is not a text"],
    [443, "is not a text"],
    [true, "is not a text"],
    [{}, "is not a text"],
    [[], "is not a text"],
    [new URL("https://app.example.com"), "is not a text"],
    [/app\.example\.com$/, "is not a text"],
  ])("%j: %s", (value, reason) => {
    for (const mode of [production, development]) {
      const result = checkOrigin(value, mode);
      expect(result.origin).toBeUndefined();
      expect(result.reason).toContain(reason);
    }
  });
});

it("does not repeat a password that was pasted into an origin", () => {
  expect(checkOrigin("https://ann:hunter2@app.example.com", production).reason).not.toContain("hunter2");
});
