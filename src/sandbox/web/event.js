// Event, EventTarget, CustomEvent: DOM, sections 2.2 to 2.7, without a tree of nodes.
import { tag } from './tag.js';

export class Event {
  #type; #bubbles; #cancelable; #composed; #prevented = false; #timeStamp = performance.now();
  _target = null; _stopped = false;

  constructor(type, init = {}) {
    if (arguments.length === 0) throw new TypeError('The "type" argument must be specified');
    this.#type = String(type);
    this.#bubbles = Boolean(init?.bubbles);
    this.#cancelable = Boolean(init?.cancelable);
    this.#composed = Boolean(init?.composed);
    Object.defineProperty(this, '_target', { enumerable: false });
    Object.defineProperty(this, '_stopped', { enumerable: false });
  }

  get type() { return this.#type; }
  get target() { return this._target; }
  get currentTarget() { return this._target; }
  get srcElement() { return this._target; }
  get bubbles() { return this.#bubbles; }
  get cancelable() { return this.#cancelable; }
  get composed() { return this.#composed; }
  get defaultPrevented() { return this.#prevented; }
  get returnValue() { return !this.#prevented; }
  get eventPhase() { return this._target ? 2 : 0; }
  get timeStamp() { return this.#timeStamp; }
  get isTrusted() { return false; }
  get cancelBubble() { return this._stopped; }
  composedPath() { return this._target ? [this._target] : []; }
  preventDefault() { if (this.#cancelable) this.#prevented = true; }
  stopPropagation() {}
  stopImmediatePropagation() { this._stopped = true; }
}
for (const [i, name] of ['NONE', 'CAPTURING_PHASE', 'AT_TARGET', 'BUBBLING_PHASE'].entries()) {
  Object.defineProperty(Event, name, { value: i, enumerable: true });
  Object.defineProperty(Event.prototype, name, { value: i, enumerable: true });
}
tag(Event, 'Event');

export class CustomEvent extends Event {
  #detail;
  constructor(type, init = {}) {
    super(type, init);
    this.#detail = init?.detail ?? null;
  }
  get detail() { return this.#detail; }
}
tag(CustomEvent, 'CustomEvent');

// An error of a listener fails the program, as a rejection that nobody handles does.
const call = (target, listener, event) => {
  try {
    if (typeof listener === 'function') listener.call(target, event);
    else listener.handleEvent(event);
  } catch (e) {
    Promise.reject(e);
  }
};

export class EventTarget {
  #listeners = [];

  addEventListener(type, listener, options) {
    if (listener === null || listener === undefined) return;
    if (typeof listener !== 'function' && typeof listener !== 'object') {
      throw new TypeError('The "listener" argument must be an instance of EventListener');
    }
    const capture = typeof options === 'boolean' ? options : Boolean(options?.capture);
    const { once = false, signal } = typeof options === 'object' && options !== null ? options : {};
    if (signal?.aborted) return;
    type = String(type);
    if (this.#listeners.some((it) => it.type === type && it.listener === listener && it.capture === capture)) return;
    this.#listeners.push({ type, listener, capture, once: Boolean(once) });
    signal?.addEventListener('abort', () => this.removeEventListener(type, listener, capture), { once: true });
  }

  removeEventListener(type, listener, options) {
    const capture = typeof options === 'boolean' ? options : Boolean(options?.capture);
    const at = this.#listeners.findIndex(
      (it) => it.type === String(type) && it.listener === listener && it.capture === capture);
    if (at >= 0) this.#listeners.splice(at, 1)[0].removed = true;
  }

  dispatchEvent(event) {
    if (!(event instanceof Event)) throw new TypeError('The "event" argument must be an instance of Event');
    if (event._target !== null && event._busy) {
      throw new DOMException('The event is already being dispatched', 'InvalidStateError');
    }
    Object.defineProperty(event, '_busy', { value: true, configurable: true, enumerable: false });
    event._target = this;
    for (const it of this.#listeners.filter((each) => each.type === event.type)) {
      if (it.removed) continue;
      if (it.once) this.removeEventListener(it.type, it.listener, it.capture);
      call(this, it.listener, event);
      if (event._stopped) break;
    }
    delete event._busy;
    return !event.defaultPrevented;
  }
}
tag(EventTarget, 'EventTarget');

// A property onNAME whose function is a listener.
export const handler = (target, name) => {
  const set = new WeakMap();
  Object.defineProperty(target.prototype, 'on' + name, {
    get() { return set.get(this)?.given ?? null; },
    set(given) {
      const old = set.get(this);
      if (old) this.removeEventListener(name, old.listener);
      set.delete(this);
      if (typeof given !== 'function') return;
      const listener = (event) => given.call(this, event);
      set.set(this, { given, listener });
      this.addEventListener(name, listener);
    },
    enumerable: true, configurable: true,
  });
};
