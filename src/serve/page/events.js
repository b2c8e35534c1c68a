// One stream of the server's events for the whole page. It comes back by itself, for ever, and goes on after the last
// event that it got (Last-Event-ID), so nothing is missed while the connection is lost or the server starts again.

const RETRY_MIN_MS = 250;
const RETRY_MAX_MS = 5000;
const SILENCE_MS = 40_000; // the server gives a sign of life every 15 seconds

export class Events {
  #api;
  #readers = new Set();
  #watchers = new Set();
  #lastId;
  #tries = 0;
  #stop;
  #wake = () => {};
  #first;

  constructor(api) {
    this.#api = api;
    this.isConnected = false;
    this.#first = new Promise((done) => this.#watchers.add((is) => is && done()));
    for (const name of ["online", "visibilitychange", "focus"]) window.addEventListener(name, () => this.#wake());
  }

  /** `reader({event, data})` gets every event. Returns what ends that. */
  on(reader) {
    this.#readers.add(reader);
    return () => this.#readers.delete(reader);
  }

  /** `watcher(isConnected)` is told when the connection is made or lost. Returns what ends that. */
  watch(watcher) {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** Resolves when events come: what is asked for after that misses none. */
  get ready() {
    return this.#first;
  }

  /** Follows the stream for as long as the page is there. */
  async run() {
    for (;;) {
      await this.#follow();
      this.#setConnected(false);
      await this.#pause();
    }
  }

  async #follow() {
    this.#stop = new AbortController();
    const headers = { accept: "text/event-stream", ...(this.#lastId !== undefined && { "last-event-id": this.#lastId }) };
    try {
      const answer = await this.#api.fetch("events/stream", { headers, signal: this.#stop.signal });
      if (answer.status === 401) {
        await this.#api.needToken();
        this.#tries = 0;
        return;
      }
      if (!answer.ok) return;
      this.#tries = 0;
      this.#setConnected(true);
      await this.#read(answer.body.getReader());
    } catch { /* lost, refused or aborted: it is tried again */ }
  }

  async #read(stream) {
    const decoder = new TextDecoder();
    let rest = "";
    for (;;) {
      const silence = setTimeout(() => this.#stop.abort(), SILENCE_MS);
      const { done, value } = await stream.read().finally(() => clearTimeout(silence));
      if (done) return;
      const from = Math.max(0, rest.length - 1); // what came before has been searched
      rest += decoder.decode(value, { stream: true });
      let begin = 0;
      for (let end = rest.indexOf("\n\n", from); end >= 0; end = rest.indexOf("\n\n", begin)) {
        this.#take(rest.slice(begin, end));
        begin = end + 2;
      }
      rest = rest.slice(begin);
    }
  }

  #take(block) {
    let text = "";
    let id;
    for (const line of block.split("\n")) {
      if (line.startsWith("data: ")) text += line.slice(6);
      else if (line.startsWith("id: ")) id = line.slice(4);
    }
    if (id !== undefined) this.#lastId = id;
    if (text !== "") this.tell(JSON.parse(text));
  }

  /** Hands an event to the readers, also one that only this page knows of. */
  tell(event) {
    for (const reader of [...this.#readers]) {
      try {
        reader(event);
      } catch (problem) {
        reportError(problem); // one view's fault does not end the stream for the others
      }
    }
  }

  #setConnected(is) {
    if (this.isConnected === is) return;
    this.isConnected = is;
    for (const watcher of [...this.#watchers]) watcher(is);
  }

  /** Waits, longer each time and not at the same time as every other page; less when the person comes back. */
  #pause() {
    const most = Math.min(RETRY_MAX_MS, RETRY_MIN_MS * 2 ** this.#tries++);
    return new Promise((done) => {
      const timer = setTimeout(done, most * (0.5 + Math.random() / 2));
      this.#wake = () => {
        clearTimeout(timer);
        done();
      };
    });
  }
}
