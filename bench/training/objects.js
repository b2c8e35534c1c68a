// Classes, private fields, getters, spreading, collections, copies.
class Shape {
  constructor(id) {
    this.id = id;
  }
  area() {
    return 0;
  }
  get label() {
    return `${this.constructor.name} ${this.id}: ${this.area().toFixed(2)}`;
  }
}
class Circle extends Shape {
  constructor(id, radius) {
    super(id);
    this.radius = radius;
  }
  area() {
    return Math.PI * this.radius ** 2;
  }
}
class Rectangle extends Shape {
  #width;
  static made = 0;
  constructor(id, width, height) {
    super(id);
    this.#width = width;
    this.height = height;
    Rectangle.made++;
  }
  area() {
    return this.#width * this.height;
  }
}

const shapes = Array.from({length: 4000}, (_, i) => (i % 3 ? new Circle(i, i % 17) : new Rectangle(i, i % 13, i % 7)));
let total = 0;
for (const shape of shapes) total += shape.area() + shape.label.length;

const byKind = {};
for (const {id, ...rest} of shapes) (byKind[id % 40] ??= []).push({...rest, kind: id % 40});

const copy = (value) => {
  if (Array.isArray(value)) return value.map(copy);
  if (value === null || typeof value !== 'object') return value;
  const made = {};
  for (const key of Object.keys(value)) made[key] = copy(value[key]);
  return made;
};

const counts = new Map();
const seen = new Set();
for (let i = 0; i < 6000; i++) {
  counts.set(`key ${i % 500}`, (counts.get(`key ${i % 500}`) ?? 0) + i);
  if (!seen.has(i % 321)) seen.add(i % 321);
}
const weak = new WeakMap(shapes.slice(0, 500).map((shape) => [shape, shape.id]));

const watched = new Proxy({}, {get: (_, name) => String(name).length, has: () => true});
let names = 0;
for (let i = 0; i < 500; i++) names += watched[`name${i}`] + ('x' in watched ? 1 : 0);

const frozen = Object.freeze({a: 1, [Symbol('s')]: 2});
let refused = 0;
try {
  'use strict';
  Object.defineProperty(frozen, 'b', {value: 1});
} catch (error) {
  refused = error.message.length;
}
delete byKind[3];
[total | 0, Object.entries(copy(byKind)).length, [...counts.values()].reduce((a, b) => a + b, 0), seen.size, names, refused,
  weak.has(shapes[3]), Rectangle.made, Object.getOwnPropertyNames(Shape.prototype).join(), shapes[1] instanceof Circle];
