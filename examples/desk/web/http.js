/** One exchange with the service, and the one error that a failed exchange becomes. */

/** What the service answered: a sentence, a code, and perhaps a hint and what is wrong with which field. */
export class ApiError extends Error {
  constructor({ error = "Something went wrong on our side.", code = "INTERNAL", hint, issues = [] }, status = 0) {
    super(error);
    Object.assign(this, { name: "ApiError", code, hint, issues, status });
  }
}

/** Posts JSON and returns the parsed answer. @throws ApiError, with status 0 when there was no usable answer */
export async function post(path, body, bearer) {
  const headers = { "content-type": "application/json", ...(bearer && { authorization: `Bearer ${bearer}` }) };
  // No cookies: token mode proves who we are by the header alone.
  const request = { method: "POST", headers, body: JSON.stringify(body), credentials: "omit" };
  let response;
  let answer;
  try {
    response = await fetch(path, { ...request, signal: AbortSignal.timeout(20_000) });
    answer = await response.json();
  } catch {
    if (response && !response.ok) throw new ApiError({}, response.status);
    const hint = "Check your connection, then try again.";
    throw new ApiError({ error: "The service did not answer.", code: "UNREACHABLE", hint });
  }
  if (!response.ok) throw new ApiError(answer, response.status);
  return answer;
}
