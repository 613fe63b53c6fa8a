/** Names of the text search configurations that every supported PostgreSQL has. */
import { type Language, languages } from "../contract/rag.ts";
import { refusal } from "./scope.ts";

/** @throws SvcError BAD_REQUEST for a name that is not in the list */
export function languageOf(name: unknown = "english"): Language {
  const language = languages.find((one) => one === name);
  if (language === undefined) throw refusal("language", `one of ${languages.join(", ")}`);
  return language;
}
