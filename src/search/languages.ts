/**
 * The text search configurations that every supported PostgreSQL brings, by name.
 * Source: pg_catalog.pg_ts_config of PostgreSQL 15.
 */
import { refusal } from "./scope.ts";

export const languages = [
  "simple",
  "arabic",
  "armenian",
  "basque",
  "catalan",
  "danish",
  "dutch",
  "english",
  "finnish",
  "french",
  "german",
  "greek",
  "hindi",
  "hungarian",
  "indonesian",
  "irish",
  "italian",
  "lithuanian",
  "nepali",
  "norwegian",
  "portuguese",
  "romanian",
  "russian",
  "serbian",
  "spanish",
  "swedish",
  "tamil",
  "turkish",
  "yiddish",
] as const;

/** How words are stemmed. */
export type Language = (typeof languages)[number];

/** @throws SvcError BAD_REQUEST for a name that is not in the list */
export function languageOf(name: unknown = "english"): Language {
  const language = languages.find((one) => one === name);
  if (language === undefined) throw refusal("language", `one of ${languages.join(", ")}`);
  return language;
}
