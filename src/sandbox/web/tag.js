// What a class of the web looks like to programs: its tag, and accessors and methods that can be enumerated (Web IDL).
export const tag = (type, name) => {
  const all = Object.getOwnPropertyDescriptors(type.prototype);
  for (const key of Object.keys(all)) {
    if (key !== 'constructor') Object.defineProperty(type.prototype, key, { enumerable: true });
  }
  Object.defineProperty(type.prototype, Symbol.toStringTag, { value: name, configurable: true });
};

// How console.log shows it: node's name for the method is the one that programs know.
export const shown = (type, show) =>
  Object.defineProperty(type.prototype, Symbol.for('nodejs.util.inspect.custom'),
                        { value: show, configurable: true, writable: true });
