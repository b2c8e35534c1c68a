// What Headers, FormData and their like share: iteration over [name, value] pairs.
export const iterable = (type, pairs) => {
  const methods = {
    *entries() { yield* pairs(this); },
    *keys() { for (const [name] of pairs(this)) yield name; },
    *values() { for (const [, value] of pairs(this)) yield value; },
    forEach(fn, self) { for (const [name, value] of pairs(this)) fn.call(self, value, name, this); },
  };
  for (const name of Object.keys(methods)) roots.hidden(type.prototype, name, methods[name]);
  roots.hidden(type.prototype, Symbol.iterator, methods.entries);
};
