// Requests to the server. A failure is a value with the server's own message: {error: {status, code, message}}.

const KEY = "lathe.token";
const LIMITED_TRIES = 5; // of a reading that the server's limits refuse (429)
const LIMITED_WAIT_MS = 10_000; // before each of them, at most a few times as long

/** Storage may be switched off, or full: then the token lives as long as the page. */
function storageOf(name) {
  try {
    return window[name];
  } catch {
    return undefined;
  }
}

export class Api {
  #token;
  #signIn;
  #asking;

  /** `signIn(api, message)` asks the person for a token; it is called once at a time. */
  constructor(signIn) {
    this.#signIn = signIn;
    this.#token = storageOf("sessionStorage")?.getItem(KEY) ?? storageOf("localStorage")?.getItem(KEY) ?? "";
  }

  get hasToken() {
    return this.#token !== "";
  }

  /** `remember`: this device keeps it, else this tab. */
  setToken(token, remember) {
    this.forgetToken();
    this.#token = token;
    try {
      storageOf(remember ? "localStorage" : "sessionStorage")?.setItem(KEY, token);
    } catch { /* full: it lives as long as the page */ }
  }

  forgetToken() {
    this.#token = "";
    for (const name of ["sessionStorage", "localStorage"]) storageOf(name)?.removeItem(KEY);
  }

  /** Asks for a token until the server takes one; all that wait for it go on together. */
  needToken(message) {
    this.#asking ??= Promise.resolve(this.#signIn(this, message)).finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  /** What `fetch` has, with the token. Throws where the server does not answer. */
  async fetch(path, options = {}) {
    const { headers, ...rest } = options;
    const isReading = (options.method ?? "GET") === "GET";
    for (let tries = 1; ; tries++) {
      const answer = await fetch(path, {
        cache: "no-store",
        credentials: "omit",
        ...rest,
        headers: { ...headers, ...(this.#token && { authorization: `Bearer ${this.#token}` }) },
      });
      if (answer.status !== 429 || !isReading || tries === LIMITED_TRIES) return answer;
      await pauseOf(answer, tries);
    }
  }

  /** The answer as JSON: {value, status} or {error}. Options: signal, headers, quiet: nobody is asked for a token. */
  async ask(method, path, body, options = {}) {
    const { signal, headers, quiet } = options;
    const sent = { method, signal, headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) } };
    if (body !== undefined) sent.body = JSON.stringify(body);
    let answer;
    let text;
    try {
      answer = await this.fetch(path, sent);
      text = await answer.text();
    } catch (problem) {
      if (signal?.aborted) return { error: { status: 0, code: "aborted", message: "The request was stopped." } };
      return { error: { status: 0, code: "offline", message: "The server does not answer. Is it running?", cause: String(problem) } };
    }
    if (answer.status === 401 && !quiet) {
      await this.needToken(messageOf(text));
      return this.ask(method, path, body, options);
    }
    if (!answer.ok) return { error: { status: answer.status, ...errorOf(text, answer.status) } };
    return { status: answer.status, value: valueOf(answer, text) };
  }

  get(path, options) {
    return this.ask("GET", path, undefined, options);
  }

  post(path, body, options) {
    return this.ask("POST", path, body, options);
  }

  /** The bytes of an answer: {value: Blob} or {error}. */
  async blob(path) {
    try {
      const answer = await this.fetch(path);
      if (answer.ok) return { status: answer.status, value: await answer.blob() };
      return { error: { status: answer.status, ...errorOf(await answer.text(), answer.status) } };
    } catch {
      return { error: { status: 0, code: "offline", message: "The server does not answer. Is it running?" } };
    }
  }
}

/** Waits as long as the server says, and not until the same moment as everything else that it refused. */
function pauseOf(answer, tries) {
  const ms = Math.min(LIMITED_WAIT_MS, 1000 * (Number(answer.headers.get("retry-after")) || 1));
  return new Promise((done) => setTimeout(done, ms * (1 + (Math.random() * tries) / 2)));
}

function valueOf(answer, text) {
  const isJson = (answer.headers.get("content-type") ?? "").startsWith("application/json");
  return isJson && text !== "" ? JSON.parse(text) : text;
}

function errorOf(text, status) {
  try {
    const { code, message } = JSON.parse(text).error;
    return { code, message };
  } catch {
    return { code: "unknown", message: `The server answered with status ${status}.` };
  }
}

const messageOf = (text) => errorOf(text, 401).message;

/** A path with ids in it: path`/prompts/${id}/cancel`. */
export function path(parts, ...values) {
  return parts.reduce((all, part, i) => all + encodeURIComponent(values[i - 1]) + part);
}
