/** If these fail, a foreign site may call the API with a user's cookie, or the application's own frontend may not. */
import { describe, expect, it } from "vitest";
import { checkOrigin } from "../../src/define/origin.ts";

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
    ["capacitor://localhost", "does not start with https://"],
    ["https://", "is not a URL"],
    ["null", "sandboxed"],
    ["", "is not a text"],
    [undefined, "is not a text"],
    [["https://app.example.com"], "is not a text"],
  ])("%j", (value, reason) => {
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
