// FormData: XMLHttpRequest, section 4. A list of names with texts or files.
import { Blob, File } from './blob.js';
import { iterable } from './pairs.js';
import { tag } from './tag.js';

const valueOf = (value, filename) => {
  if (!(value instanceof Blob)) return String(value);
  if (value instanceof File && filename === undefined) return value;
  return new File([value], filename ?? 'blob', { type: value.type });
};

export class FormData {
  #all = [];
  constructor(form) {
    if (form !== undefined) throw new TypeError('FormData has no forms here: append() each value');
  }
  get _pairs() { return this.#all.map((pair) => [...pair]); }
  append(name, value, filename) { this.#all.push([String(name), valueOf(value, filename)]); }
  delete(name) { this.#all = this.#all.filter(([key]) => key !== String(name)); }
  get(name) { return this.#all.find(([key]) => key === String(name))?.[1] ?? null; }
  getAll(name) { return this.#all.filter(([key]) => key === String(name)).map(([, value]) => value); }
  has(name) { return this.#all.some(([key]) => key === String(name)); }
  set(name, value, filename) {
    const at = this.#all.findIndex(([key]) => key === String(name));
    const pair = [String(name), valueOf(value, filename)];
    if (at < 0) {
      this.#all.push(pair);
      return;
    }
    this.#all[at] = pair;
    this.#all = this.#all.filter(([key], i) => i <= at || key !== pair[0]);
  }
}
iterable(FormData, (form) => form._pairs);
tag(FormData, 'FormData');
Object.defineProperty(FormData.prototype, '_pairs', { enumerable: false });
