// AbortController and AbortSignal: DOM, section 3.
import { Event, EventTarget, handler } from './event.js';
import { shown, tag } from './tag.js';

const key = Symbol('made here');
const aborts = new WeakMap(); // what a signal's own abort() is

export class AbortSignal extends EventTarget {
  #aborted = false; #reason;

  constructor(secret) {
    if (secret !== key) throw new TypeError('Illegal constructor');
    super();
    aborts.set(this, (reason) => {
      if (this.#aborted) return;
      this.#aborted = true;
      this.#reason = reason;
      this.dispatchEvent(new Event('abort'));
    });
  }

  get aborted() { return this.#aborted; }
  get reason() { return this.#reason; }
  throwIfAborted() { if (this.#aborted) throw this.#reason; }

  static abort(reason = new DOMException('This operation was aborted', 'AbortError')) {
    const signal = new AbortSignal(key);
    aborts.get(signal)(reason);
    return signal;
  }

  // The program does not wait for this timer at its end.
  static timeout(ms) {
    if (!Number.isInteger(ms) || ms < 0) {
      throw new RangeError(`The value of "delay" is out of range. It must be >= 0 && <= 4294967295. Received ${String(ms)}`);
    }
    const signal = new AbortSignal(key);
    roots.startWeakTimer(ms, () => aborts.get(signal)(
      new DOMException('The operation was aborted due to timeout', 'TimeoutError')));
    return signal;
  }

  static any(signals) {
    const all = [...signals];
    const signal = new AbortSignal(key), abort = aborts.get(signal);
    for (const it of all) {
      if (!(it instanceof AbortSignal)) throw new TypeError('The "signals" argument must be AbortSignals');
    }
    for (const it of all) {
      if (it.aborted) {
        abort(it.reason);
        break;
      }
      it.addEventListener('abort', () => abort(it.reason), { once: true });
    }
    return signal;
  }
}
handler(AbortSignal, 'abort');
tag(AbortSignal, 'AbortSignal');
shown(AbortSignal, function (depth, options, inspect) { return `AbortSignal ${inspect({ aborted: this.aborted }, options)}`; });

export class AbortController {
  #signal = new AbortSignal(key);
  get signal() { return this.#signal; }
  abort(reason = new DOMException('This operation was aborted', 'AbortError')) { aborts.get(this.#signal)(reason); }
}
tag(AbortController, 'AbortController');
shown(AbortController, function (depth, options, inspect) {
  return `AbortController ${inspect({ signal: this.signal }, options)}`;
});
