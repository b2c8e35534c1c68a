#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "js/tserase.h"

#define UNSURE  NULL
#define NOTHING ""

typedef struct erase_case {
  const char *source;
  const char *want; /* with one space for several */
} erase_case;

/* What is left is where it was; only a semicolon or a parenthesis may be new. */
static bool keeps_places(lt_str source, lt_str erased) {
  for (size_t i = 0; i < source.n && i < erased.n; i++) {
    bool is_new = erased.p[i] == ' ' || erased.p[i] == ';' || erased.p[i] == '(' || erased.p[i] == ')';
    bool is_line_end = source.p[i] == '\n' || source.p[i] == '\r';
    if (erased.p[i] != source.p[i] && (!is_new || is_line_end)) {
      return false;
    }
  }
  return source.n == erased.n;
}

/* Each line is where it was. */
static bool keeps_lines(lt_str source, lt_str written) {
  size_t at = 0;
  for (size_t i = 0; i < source.n; i++) {
    if (source.p[i] != '\n' && source.p[i] != '\r') {
      continue;
    }
    while (at < written.n && written.p[at] != '\n' && written.p[at] != '\r') {
      at++;
    }
    if (at == written.n || written.p[at++] != source.p[i]) {
      return false;
    }
  }
  return memchr(written.p + at, '\n', written.n - at) == NULL && memchr(written.p + at, '\r', written.n - at) == NULL;
}

static bool keeps(lt_tserase_end end, lt_str source, lt_str left) {
  return end == LT_TSERASE_WRITTEN ? left.n > source.n && keeps_lines(source, left) : keeps_places(source, left);
}

static void add_squeezed(lt_buf *out, lt_str text) {
  for (size_t i = 0; i < text.n; i++) {
    if (text.p[i] != ' ' || (i + 1 < text.n && text.p[i + 1] != ' ' && out->n > 0)) {
      lt_buf_byte(out, text.p[i]);
    }
  }
}

static bool is_as_wanted(lt_str source, const char *want) {
  LT_AUTO_BUF(out, 4 * LT_MIB);
  LT_AUTO_BUF(squeezed, 4 * LT_MIB);
  LT_AUTO_BUF(again, 4 * LT_MIB);
  lt_tserase_end end = lt_tserase_program(source, &out);
  if (end != LT_TSERASE_ERASED && end != LT_TSERASE_WRITTEN) {
    return out.n == 0 && (end == LT_TSERASE_UNSURE ? want == UNSURE : want != NULL && *want == '\0');
  }
  add_squeezed(&squeezed, lt_buf_view(&out));
  if (want == UNSURE || !lt_str_eqc(lt_buf_view(&squeezed), want)) {
    print_error("got: %.*s\n", LT_STR_ARG(lt_buf_view(&squeezed)));
    return false;
  }
  return keeps(end, source, lt_buf_view(&out)) && lt_tserase_program(lt_buf_view(&out), &again) == LT_TSERASE_NOTHING;
}

static void check_cases(const erase_case *cases, size_t count) {
  size_t failed = 0;
  for (size_t i = 0; i < count; i++) {
    if (!is_as_wanted(lt_str_of(cases[i].source), cases[i].want)) {
      print_error("want: %s\nfor:  %s\n", cases[i].want != NULL ? cases[i].want : "unsure", cases[i].source);
      failed++;
    }
  }
  assert_int_equal(failed, 0);
}

#define CHECK_CASES(cases) check_cases((cases), sizeof(cases) / sizeof((cases)[0]))

static void test_values_with_types(void **state) {
  (void)state;
  static const erase_case cases[] = {
      {"", NOTHING},
      {"const a = 1 < 2, b = `${a}`, c = /=>/.test(b) ? { a } : [, a];", NOTHING},
      {"const a: number = 1", "const a = 1"},
      {"let a: string | undefined, b: { c: [d: 1, ...e: F[]] } = f, g!: H;", "let a , b = f, g ;"},
      {"const { a, b: { c = 1 as D } }: E = f, [g, , ...h]: I = j;", "const { a, b: { c = 1 } } = f, [g, , ...h] = j;"},
      {"x as A as unknown as B[]", "x"},
      {"x as const satisfies readonly string[]", "x"},
      {"(x as A | B || y)", "(x || y)"},
      {"a = b as C & D && e", "a = b && e"},
      {"x as A ? y : z as B", "x ? y : z"},
      {"a!.b![0]!(c!)! + d", "a .b [0] (c ) + d"},
      {"a != b; a !== b; a! = b; !a", "a != b; a !== b; a = b; !a"},
      {"a\n!b", NOTHING},
      {"x = <T>y; z = <A<B>[]><const>['c']", "x = y; z = ['c']"},
      {"try { a } catch (e: unknown) { b }", "try { a } catch (e ) { b }"},
      {"for (const a of b as C[]) for (let i: number = 0 as D; i < e!; i++) f",
       "for (const a of b ) for (let i = 0 ; i < e ; i++) f"},
      {"`${a as B}` + c`${d!}`", "`${a }` + c`${d }`"},
      {"y = x as T\n/re/g.b", "y = x \n/re/g.b"},
      {"ätsch: for (;;) { const größe: Maß = ü! }", "ätsch: for (;;) { const größe = ü }"},
      {"a = b as 'ü' | `x${string}`;\r\nc", "a = b ;\r\nc"},
      {"yield: type = 1; as = of; async = await", NOTHING},
  };
  CHECK_CASES(cases);
}

static void test_types_of_every_kind(void **state) {
  (void)state;
  static const char *const types[] = {
      "A.B<C, D>[]",
      "typeof a.b<C>",
      "keyof typeof a",
      "import('m', { with: { a: 'b' } }).C<D>",
      "unique symbol",
      "readonly A[]",
      "A['b'][number]",
      "-1 | 1n | 'a' | null | true",
      "`a${B}c${D['e']}`",
      "(A | (B & C))[]",
      "(a: A, b?: B, ...c: C[]) => D",
      "new <A extends B = C>(a: A) => A",
      "abstract new () => A",
      "(this: A) => asserts this is B",
      "(a) => a is A",
      "({ a, b }: C, [d]: E) => F",
      "() => () => void",
      "[A?, ...B[]]",
      "[a: A, b?: B, ...c: C]",
      "[]",
      "{ readonly a?: A; b(): B, <C>(d: C): D\n new (e: E): F; get g(): G; set g(a: G); [h: string]: H; [I.j]?: J; "
      "'k': K; 1: L }",
      "{ -readonly [A in keyof B as C<A>]-?: B[A] }",
      "{ [A in B] }",
      "{ get: A; set?(): B; readonly: C; new: D }",
      "A extends B ? C : D extends E ? F : G",
      "A extends (infer B extends C)[] ? B : never",
      "A extends infer B extends C ? D : E",
      "A extends { a: infer B } ? B : C",
      "(<A>() => A extends B ? 1 : 2) extends <A>() => A extends C ? 1 : 2 ? D : E",
      "| A\n| B",
      "& A",
      "asserts",
      "this",
      "typeof this.a",
      "typeof import('m')",
      "A<(a: B) => C>",
      "A<B<C<D>>>",
      "object | string",
  };
  LT_AUTO_BUF(source, LT_KIB);
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    lt_buf_clear(&source);
    lt_buf_printf(&source, "const a: %s = b; c as %s; type D = %s", types[i], types[i], types[i]);
    LT_AUTO_BUF(out, LT_KIB);
    LT_AUTO_BUF(squeezed, LT_KIB);
    assert_int_equal(lt_tserase_program(lt_buf_view(&source), &out), LT_TSERASE_ERASED);
    for (size_t at = 0; at < out.n; at++) {
      out.p[at] = out.p[at] == '\n' ? ' ' : out.p[at];
    }
    add_squeezed(&squeezed, lt_buf_view(&out));
    assert_string_equal(squeezed.p, "const a = b; c ;");
  }
}

static void test_what_is_no_type(void **state) {
  (void)state;
  static const char *const types[] = {
      "",
      "A.",
      "A<",
      "A<>",
      "A B",
      "[A",
      "{ a: }",
      "{ a b }",
      "(a: A =>",
      "A extends B ? C",
      "if",
      "a + b",
      "1 + 1",
      "A | ",
      "{ [a: string: B }",
      "{ a: b = c }",
      "infer",
      "`${}`",
      "<A>",
      "new A",
      "import(a)",
      "typeof 1",
      "/a/",
  };
  LT_AUTO_BUF(source, LT_KIB);
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    lt_buf_clear(&source);
    lt_buf_printf(&source, "let a: %s;", types[i]);
    LT_AUTO_BUF(out, LT_KIB);
    bool is_known = strcmp(types[i], "infer") == 0; /* a name like any other, here */
    assert_int_equal(lt_tserase_program(lt_buf_view(&source), &out), is_known ? LT_TSERASE_ERASED : LT_TSERASE_UNSURE);
  }
}

static void test_functions(void **state) {
  (void)state;
  static const erase_case cases[] = {
      {"function f<T extends U = V>(a: T, b?: W, { c }: X = {}, ...d: Y[]): asserts a is Z {}",
       "function f (a , b , { c } = {}, ...d ) {}"},
      {"function f(this: A, b: B) {}; function g(this: A) {}", "function f( b ) {}; function g( ) {}"},
      {"function f(a: A): B;\nfunction f(a) {}", "\nfunction f(a) {}"},
      {"a\nfunction f(): B\nfunction f() {}\n(c)", "a\n; \nfunction f() {}\n(c)"},
      {"const f = <T,>(x: T): T => x", "const f = (x ) => x"},
      {"f = async <T>(x: T): Promise<T> => await x", "f = async (x ) => await x"},
      {"f = async x => x as A", "f = async x => x"},
      {"f = (a): (() => B) => c; g = (a): (B) | C => d", "f = (a) => c; g = (a) => d"},
      {"f = (a): a is B => true", "f = (a) => true"},
      {"f = <A>(a: A) => <B>(b: B): A => a", "f = (a ) => (b ) => a"},
      {"f = (\n  a: A, // one\n  b: B,\n) => a", "f = (\n a , // one\n b ,\n) => a"},
      {"a.map((x): B => ({ c: x as D })).filter((x): x is E => !!x)", "a.map((x) => ({ c: x })).filter((x) => !!x)"},
      {"x ? (y) : z", NOTHING},
      {"x ? (y): A => z : w", UNSURE},
      {"x ? (y) : z => w", UNSURE},
      {"x ? ((y): A => z) : (w): B => v", "x ? ((y) => z) : (w) => v"},
      {"switch (x) { case (y): z as A; default: w! }", "switch (x) { case (y): z ; default: w }"},
      {"function* g(): Generator<A> { const b: C = yield d as E; yield* f<G>(); yield }",
       "function* g() { const b = yield d ; yield* f (); yield }"},
      {"({ a(b: C): D { return b }, get e(): F { return 1 }, async *[g]<H>(i: H) {}, async: 1, get, set: j as K })",
       "({ a(b ) { return b }, get e() { return 1 }, async *[g] (i ) {}, async: 1, get, set: j })"},
      {"(async (a: B) => a)(); async(a as B)", "(async (a ) => a)(); async(a )"},
      {"async function () { const a: B = 1; return a }", "async function () { const a = 1; return a }"},
  };
  CHECK_CASES(cases);
}

static void test_angles(void **state) {
  (void)state;
  static const erase_case cases[] = {
      {"f<A>(b); new Map<string, A[]>(); new Set<A>; a?.<B>(c); f<A>`b`",
       "f (b); new Map (); new Set ; a?. (c); f `b`"},
      {"a < b > (c)", "a (c)"},
      {"a < b > c; a < b, c > d; i < n >> 1; a < b >= c; a < b > -c", NOTHING},
      {"f(a < b, c > (d))", "f(a (d))"},
      {"(a < b) > (c); a < b || c > (d); a < 1 + b > (c)", NOTHING},
      {"x as number < 5", "x < 5"},
      {"g = f<A>; h = [f<A>, f<B>]", "g = f ; h = [f , f ]"},
      {"g = f<A>\nh", "g = f; \nh"},
      {"new A<B>().c<D>(e)", "new A ().c (e)"},
      {"while (x-->0) y", NOTHING},
      {"x<!--y", UNSURE},
      {"x\n--> y", UNSURE},
      {"return <p>{x}</p>", UNSURE},
      {"() => <T>{}", UNSURE},
      {"<T>{}", UNSURE},
  };
  CHECK_CASES(cases);
}

/* Where a type separated two statements, something else must. */
static void test_ends_of_statements(void **state) {
  (void)state;
  static const erase_case cases[] = {
      {"x as A\n(y)", "x ; \n(y)"},
      {"x as A\n[y]", "x ; \n[y]"},
      {"let x: A\n(y)", "let x; \n(y)"},
      {"let x = y as A\n`z`", "let x = y ; \n`z`"},
      {"const f = () => x as A\n[0]", "const f = () => x ; \n[0]"},
      {"x\ntype A = B\n(y)", "x\n; \n(y)"},
      {"x\ninterface A {\n  b: C\n}\n[y]", "x\n; \n \n \n[y]"},
      {"x;\ntype A = B\n(y)", "x;\n \n(y)"},
      {"type A = B\nasync () => 1", "\nasync () => 1"},
      {"x\ndeclare const a: B\n+y", "x\n; \n+y"},
      {"class A { b = 1 as C\n['d'] = 2 }", "class A { b = 1 ; \n['d'] = 2 }"},
      {"class A { get: B\nc() {} }", "class A { get; \nc() {} }"},
      {"class A { b = 1\nprivate ['c'] = 2 }", "class A { b = 1\n; ['c'] = 2 }"},
      {"class A { b = 1\npublic *c() {} }", "class A { b = 1\n; *c() {} }"},
      {"class A { b = 1\nabstract c(): D\n*e() {} }", "class A { b = 1\n; \n*e() {} }"},
      {"f = (a): {\n  b: C\n} => a", "f = (a \n \n) => a"},
      {"f = async <\n  T\n>(a: T) => a", "f = async (\n \n a ) => a"},
      {"function f() { return <\n  T\n>(a: T): T => a }", "function f() { return (\n \n a ) => a }"},
      {"function f() { return <\n  T\n>a }", UNSURE},
      {"f = (a)\n: B => a", "f = (a \n ) => a"},
      {"x as A; y", "x ; y"},
      {"if (a) b as C\nelse d", "if (a) b ; \nelse d"},
  };
  CHECK_CASES(cases);
}

static void test_declarations(void **state) {
  (void)state;
  static const erase_case cases[] = {
      {"interface A<B> extends C<D>, E.F { g: H }\ntype I<J> = K;", "\n"},
      {"declare function f(a: B): C; declare let d: E, g: H\ndeclare class I extends J { k(): L }", "\n"},
      {"declare module 'm' { a }\ndeclare global { b }\ndeclare namespace A.B { c }\ndeclare enum D { e }", "\n \n \n"},
      {"abstract class A<B> extends C<D>.e<F> implements G, H<I> { abstract j: K; abstract l(): M; n(): O { return 1 } "
       "}",
       UNSURE},
      {"abstract class A<B> extends C<D> implements G, H<I> { abstract j: K; abstract l(): M; n(): O { return 1 } }",
       "class A extends C { n() { return 1 } }"},
      {"class A extends (B as C)<D> { static e?: F = 1; readonly #g: H; declare i: J; k!: L; [m: string]: N; o?(): P }",
       "class A extends (B ) { static e = 1; #g ; k ; }"},
      {"class A { private static async *b<C>(d: C) {} protected override get e(): F { return 1 } static { g as H } }",
       "class A { static async *b (d ) {} get e() { return 1 } static { g } }"},
      {"class A { constructor(b: C); constructor(b: unknown) {} }", "class A { constructor(b ) {} }"},
      {"class A { get; set; static; readonly; async\nb() {} }", NOTHING},
      {"x = class<T> implements A {}", "x = class {}"},
      {"class A { accessor b = 1 }", UNSURE},
      {"@a class B {}", UNSURE},
      {"namespace A { export const b = 1 }", UNSURE},
      {"type = 1; declare = 2; abstract = 3; namespace = module; interface\nA", NOTHING},
      {"if (a) type B = C", UNSURE},
  };
  CHECK_CASES(cases);
}

static void test_enums(void **state) {
  (void)state;
  static const erase_case cases[] = {
      {"enum A {}", "var A; (function (A) {})(A || (A = {}));"},
      {"enum A { B, C }",
       "var A; (function (A) { A[A[\"B\"] = 0] = \"B\"; A[A[\"C\"] = A[\"B\"] + 1] = \"C\" })(A || (A = {}));"},
      {"const enum A { B = 'b', C = `c`, D = B }",
       "var A; (function (A) { A[\"B\"] = 'b'; A[\"C\"] = `c`; A[\"D\"] = A[\"B\"] })(A || (A = {}));"},
      {"enum A { // B\n  B, /* , */\n  'c-d' // C\n  ,\n  default = -1 }",
       "var A; (function (A) { // B\n A[A[\"B\"] = 0] = \"B\"; /* , */\n A[A['c-d'] = A[\"B\"] + 1] = 'c-d' // C\n ;\n "
       "A[A[\"default\"] = -1] = \"default\" })(A || (A = {}));"},
      {"enum A { B = 1 << 2, C = (B | A.B) ** 2 >>> 1, D = A['C'] % ~(-B), E = 'e' + 1 + `f` }",
       "var A; (function (A) { A[A[\"B\"] = 1 << 2] = \"B\"; A[A[\"C\"] = (A[\"B\"] | A.B) ** 2 >>> 1] = \"C\"; "
       "A[A[\"D\"] = A['C'] % ~(-A[\"B\"])] = \"D\"; A[\"E\"] = 'e' + 1 + `f` })(A || (A = {}));"},
      {"x\nenum A { B }\nenum A { C = B }\n(y)",
       "x\nvar A; (function (A) { A[A[\"B\"] = 0] = \"B\" })(A || (A = {}));\n; (function (A) { A[A[\"C\"] = A[\"B\"]] "
       "= "
       "\"C\" })(A || (A = {}));\n(y)"},
      {"export enum A { B }\nexport const enum A { C = 1 }",
       "export var A; (function (A) { A[A[\"B\"] = 0] = \"B\" })(A || (A = {}));\n ; (function (A) { A[A[\"C\"] = 1] = "
       "\"C\" })(A || (A = {}));"},
      {"enum A { B } { enum A { C } } () => { enum A { C } }",
       "var A; (function (A) { A[A[\"B\"] = 0] = \"B\" })(A || (A = {})); { let A; (function (A) { A[A[\"C\"] = 0] = "
       "\"C\" "
       "})(A || (A = {})); } () => { let A; (function (A) { A[A[\"C\"] = 0] = \"C\" })(A || (A = {})); }"},
      {"switch (a) { default: b; enum A {} } class B { static { enum A {} } }",
       "switch (a) { default: b; let A; (function (A) {})(A || (A = {})); } class B { static { let A; (function (A) "
       "{})(A || (A = {})); } }"},
      {"enum A {}type B = C", "var A; (function (A) {})(A || (A = {}));"},
      {"abstract class A { abstract b(): void { enum C { D } } e: F }", "class A { e }"},
      {"declare enum A { B }\ndeclare const enum A { C = x() }", "\n"},
  };
  CHECK_CASES(cases);
}

/* What TypeScript computes, drops or refuses. */
static void test_enums_that_are_left(void **state) {
  (void)state;
  static const erase_case cases[] = {
      {"enum A { B = c }", UNSURE},
      {"enum A { B = C.D }", UNSURE},
      {"enum A { B = f() }", UNSURE},
      {"enum A { B = 'b'.length }", UNSURE},
      {"enum A { B = `${1}` }", UNSURE},
      {"enum A { B = 'b', C }", UNSURE},
      {"enum A { B = -'1' }", UNSURE},
      {"enum A { B = 'b' * 2 }", UNSURE},
      {"enum A { B = 1 as number }", UNSURE},
      {"enum A { B = 1 && 2 }", UNSURE},
      {"enum A { B = 1 < 2 }", UNSURE},
      {"enum A { B = !1 }", UNSURE},
      {"enum A { B = 1n }", UNSURE},
      {"enum A { B = 017 }", UNSURE},
      {"enum A { B = C, C = 1 }", UNSURE}, /* is 0 */
      {"enum A { B = B }", UNSURE},
      {"enum A { B = Infinity }", UNSURE},
      {"enum A { B = A?.B }", UNSURE},
      {"enum A { B, B }", UNSURE},
      {"enum A { B, 'B' }", UNSURE},
      {"enum A { A, B = A }", UNSURE},
      {"enum A { __proto__ = 1, B }", UNSURE},
      {"enum A { NaN }", UNSURE},
      {"enum A { '1' }", UNSURE},
      {"enum A { '\\x41' }", UNSURE},
      {"enum A { 1 }", UNSURE},
      {"enum A { ['b'] }", UNSURE},
      {"enum A { `b` }", UNSURE},
      {"enum A { #b }", UNSURE},
      {"enum A { B C }", UNSURE},
      {"enum A { B; C }", UNSURE},
      {"enum A { , }", UNSURE},
      {"enum A", UNSURE},
      {"enum { B }", UNSURE},
      {"enum A.B { C }", UNSURE},
      {"enum A {} export enum A {}", UNSURE},
      {"if (a) enum A {}", UNSURE},
      {"a: enum A {}", UNSURE},
      {"export default enum A {}", UNSURE},
      {"enum A { B } namespace A { export const c = 1 }", UNSURE},
  };
  CHECK_CASES(cases);
}

static void test_parameter_properties(void **state) {
  (void)state;
  static const erase_case cases[] = {
      {"class A { constructor(private b: C) {} }", "class A { b; constructor( b ) { this.b = b;} }"},
      {"class A {\n  d = 1;\n  public constructor(e: F, protected readonly b?: C, public override g = 2) {\n    "
       "h(this.b)\n  }\n}",
       "class A { b; g;\n d = 1;\n constructor(e , b , g = 2) { this.b = b; this.g = g;\n h(this.b)\n }\n}"},
      {"x = class<T> extends y<T> { constructor(readonly b: C) { z(super.q, [w]); super(b); v } }",
       "x = class extends y { b; constructor( b ) { z(super.q, [w]); super(b); this.b = b; v } }"},
      {"class A { constructor(private b = class { constructor(c, public d) {} }) {} }",
       "class A { b; constructor( b = class { d; constructor(c, d) { this.d = d;} }) { this.b = b;} }"},
      {"class A { constructor(b: C); constructor(private b: any) {} }",
       "class A { b; constructor( b ) { this.b = b;} }"},
      {"class A { constructor(readonly, public readonly: B) {} }",
       "class A { readonly; constructor(readonly, readonly ) { this.readonly = readonly;} }"},
      {"class A { constructor(private b: C) }", UNSURE},
      {"class A { constructor(private b: C); constructor() {} }", UNSURE},
      {"class A { constructor(private { b }: C) {} }", UNSURE},
      {"class A { constructor(private ...b: C) {} }", UNSURE},
      {"class A { constructor(private b: C) { 'use strict' } }", UNSURE},
      {"class A extends B { constructor(private b: C) {} }", UNSURE},
      {"class A extends B { constructor(private b: C) { super(b) } }", UNSURE},
      {"class A extends B { constructor(private b: C) { if (b) super(b); else super(); } }", UNSURE},
      {"class A extends B { constructor(private b: C) { try { super(b); } finally {} } }", UNSURE},
      {"class A extends B { constructor(private b: C) { x = super(b); } }", UNSURE},
      {"class A extends B { constructor(private b: C) { super(b).c; } }", UNSURE},
      {"class A { static constructor(private b: C) {} }", UNSURE},
      {"class A { 'constructor'(private b: C) {} }", UNSURE},
      {"class A { *constructor(private b: C) {} }", UNSURE},
      {"class A { b(private c: D) {} }", UNSURE},
      {"class A { constructor(b = (private c) => d) {} }", UNSURE},
      {"function f(private a: B) {}", UNSURE},
  };
  CHECK_CASES(cases);
}

static void test_modules(void **state) {
  (void)state;
  static const erase_case cases[] = {
      {"import type A from 'a'; import type { B } from 'b'\nimport type * as C from 'c'", "\n"},
      {"import 'a'; import('b' as C); import.meta.d!", "import 'a'; import('b' ); import.meta.d"},
      {"import { a } from 'a'; a as B", UNSURE}, /* dropped where `a` is only a type */
      {"import a = require('a')", UNSURE},
      {"export type A = B; export interface C {}; export type { D }; export type * from 'e'; export const f: G = 1",
       "; export const f = 1"},
      {"export default abstract class A { b!: C }", "export default class A { b }"},
      {"export default function f<A>(b: A): A { return b }", "export default function f (b ) { return b }"},
      {"export default interface A {}\nb", "\nb"},
      {"const a: B = 1; export default a", "const a = 1; export default a"},
      {"interface a {}; export default a", UNSURE},
      {"const a: B = 1; export { a, a as b }; export * from 'c'; export * as d from 'e'",
       "const a = 1; export { a, a as b }; export * from 'c'; export * as d from 'e'"},
      {"type A = B; export { A }", UNSURE},
      {"export { type A }", UNSURE},
      {"export = a", UNSURE},
      {"export declare const a: B; export abstract class C {}", "export class C {}"},
  };
  CHECK_CASES(cases);
}

static void test_text_that_is_odd(void **state) {
  (void)state;
  static const erase_case cases[] = {
      {"const a: B = 1 /* \xE2\x80\xA8 */", UNSURE},
      {"let \\u0061: B", UNSURE},
      {"let a: B = ')'; (", UNSURE},
      {"let a: B = `${`", UNSURE},
      {"let a: B = 'x", UNSURE},
      {"let a: B /* x", UNSURE},
      {"case 1: a as B", UNSURE},
      {"const a: B = ;", UNSURE},
      {"{ a as B ]", UNSURE},
      {"}", UNSURE},
      {"\xEF\xBB\xBF#!x\nlet a: B", "\xEF\xBB\xBF#!x\nlet a"},
  };
  CHECK_CASES(cases);
}

/* --- Bounds ------------------------------------------------------------------------------------------------------- */
static void add_times(lt_buf *out, const char *text, size_t times) {
  for (size_t i = 0; i < times; i++) {
    lt_buf_addc(out, text);
  }
}

static void test_nesting_is_bounded(void **state) {
  (void)state;
  static const char *const pairs[][2] = {
      {"(", ")"},       {"[", "]"},          {"({a:", "})"},   {"() => {", "}"},       {"`${", "}`"}, {"a ? ", ": b"},
      {"a = ", "b"},    {"a as {b:", "}"},   {"a as B<", ">"}, {"class {a =", "}"},    {"new ", ""},  {"{", "}"},
      {"if (a) ", ";"}, {"(a = ", ") => b"}, {"({a = ", "})"}, {"(a: (b: ", ") => c)"}};
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    LT_AUTO_BUF(source, LT_MIB);
    LT_AUTO_BUF(out, LT_MIB);
    add_times(&source, pairs[i][0], 900);
    lt_buf_addc(&source, "x");
    add_times(&source, pairs[i][1], 900);
    if (lt_tserase_program(lt_buf_view(&source), &out) != LT_TSERASE_UNSURE) {
      fail_msg("900 times %s", pairs[i][0]);
    }
  }
}

static void test_work_is_bounded(void **state) {
  (void)state;
  static const char *const texts[] = {"a<b<",   "a<b,", "(a):",     "<a,",     "a as b|",
                                      "(a)=>(", "a?",   "((a):b=>", "f<g<h>(", "a as {b:"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    LT_AUTO_BUF(source, LT_MIB);
    LT_AUTO_BUF(out, LT_MIB);
    add_times(&source, texts[i], LT_TSERASE_MAX_BYTES / 16); /* quadratic, it would take minutes */
    (void)lt_tserase_program(lt_buf_view(&source), &out);
  }
  LT_AUTO_BUF(source, 4 * LT_MIB);
  LT_AUTO_BUF(out, 4 * LT_MIB);
  add_times(&source, "a as B;", LT_TSERASE_MAX_BYTES / 7);
  assert_int_equal(lt_tserase_program(lt_buf_view(&source), &out), LT_TSERASE_ERASED);
  lt_buf_addc(&source, "a as B;");
  assert_int_equal(lt_tserase_program(lt_buf_view(&source), &out), LT_TSERASE_UNSURE);
}

static const char whole[] =
    "type A<B extends C = D> = { [k: string]: B } | `x${E}`;\nabstract class F<G> extends H<G> implements I {\n"
    "  private readonly j?: K = <L>m!;\n  abstract n(): void\n  o<P>(this: Q, ...r: S[]): r is T { return f<U>(`${r as "
    "V}`) }\n}\n"
    "enum M { a, b = M.a | a, 'c' = `d` }\nenum M { e = b }\nclass O extends P { constructor(private s: T) { super(s); "
    "} }\n"
    "export const w = async <X,>(y: X): Promise<\n  X\n> => y as const satisfies Z\n[0]\ndeclare function g(): "
    "void\n(h)";

/* Cut anywhere, and with any one byte lost, it is still read to its end and no further: the copy has its exact size. */
static void test_broken_anywhere(void **state) {
  (void)state;
  size_t n = sizeof whole - 1;
  for (size_t i = 0; i <= n; i++) {
    for (int is_cut = 0; is_cut < 2; is_cut++) {
      LT_AUTO_BUF(out, LT_MIB);
      size_t left = is_cut ? i : n - (i < n);
      char *text = lt_mem_alloc(left);
      assert_non_null(text);
      memcpy(text, whole, i < left ? i : left);
      if (!is_cut && i < n) {
        memcpy(text + i, whole + i + 1, n - i - 1);
      }
      lt_tserase_end end = lt_tserase_program(lt_str_from(text, left), &out);
      if (end == LT_TSERASE_ERASED || end == LT_TSERASE_WRITTEN) {
        assert_true(keeps(end, lt_str_from(text, left), lt_buf_view(&out)));
      }
      lt_mem_free(text);
    }
  }
}

static void test_without_memory(void **state) {
  (void)state;
  lt_tserase_end end = LT_TSERASE_UNSURE;
  for (long n = 0; end == LT_TSERASE_UNSURE; n++) {
    LT_AUTO_BUF(out, LT_MIB);
    assert_true(n < 20);
    lt_mem_fail_at(n);
    end = lt_tserase_program(lt_str_of(whole), &out);
    lt_mem_fail_at(-1);
  }
  assert_int_equal(end, LT_TSERASE_WRITTEN);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values_with_types),
      cmocka_unit_test(test_types_of_every_kind),
      cmocka_unit_test(test_what_is_no_type),
      cmocka_unit_test(test_functions),
      cmocka_unit_test(test_angles),
      cmocka_unit_test(test_ends_of_statements),
      cmocka_unit_test(test_declarations),
      cmocka_unit_test(test_enums),
      cmocka_unit_test(test_enums_that_are_left),
      cmocka_unit_test(test_parameter_properties),
      cmocka_unit_test(test_modules),
      cmocka_unit_test(test_text_that_is_odd),
      cmocka_unit_test(test_nesting_is_bounded),
      cmocka_unit_test(test_work_is_bounded),
      cmocka_unit_test(test_broken_anywhere),
      cmocka_unit_test(test_without_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
