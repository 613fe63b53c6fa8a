/**
 * Whether a text is a UUID as PostgreSQL writes it. Checked before a query with a uuid parameter: no other text
 * identifies a row, and the cast would fail the transaction. Source: RFC 9562, section 4.
 */
export const isUuid = (text: unknown): text is string =>
  typeof text === "string" && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
