// What TypeScript's compiler is told of the world of a program in Deno, beside the language's own library. Short, since
// it is read before every run; what is rarely used is any.
declare const input: any;
declare function output(value: unknown): void;
declare function done(): void;
declare function complete(what: { response: string; data?: unknown; followUp?: string }): { stored: boolean; followUp: boolean };
declare function log(...values: unknown[]): void;
declare function store(key: string, value: unknown): void;
declare function recall(key: string): any;
declare function sleep(ms: number): Promise<void>;
declare function parallel(calls: { tool: string; input?: any }[]): Promise<any[]>;
declare function discoverTools(query?: string): Promise<{ id: string; name: string; description: string }[]>;
declare function toolSchema(name: string): Promise<any>;
declare const tools: { [id: string]: (input?: any) => Promise<Result<any>> };
type Result<T> =
  | { success: true; value: T }
  | { success: false; error: string };

interface Console {
  log(...data: any[]): void; info(...data: any[]): void; debug(...data: any[]): void; trace(...data: any[]): void;
  warn(...data: any[]): void; error(...data: any[]): void; dir(item?: any, options?: any): void;
  dirxml(...data: any[]): void; table(data?: any, columns?: string[]): void; assert(condition?: boolean, ...data: any[]): void;
  group(...data: any[]): void; groupCollapsed(...data: any[]): void; groupEnd(): void; clear(): void;
  count(label?: string): void; countReset(label?: string): void;
  time(label?: string): void; timeLog(label?: string, ...data: any[]): void; timeEnd(label?: string): void;
}
declare var console: Console;
declare function setTimeout(callback: (...args: any[]) => void, delay?: number, ...args: any[]): number;
declare function setInterval(callback: (...args: any[]) => void, delay?: number, ...args: any[]): number;
declare function clearTimeout(id?: number): void;
declare function clearInterval(id?: number): void;
declare function queueMicrotask(callback: () => void): void;
declare function structuredClone<T>(value: T, options?: any): T;
declare function atob(data: string): string;
declare function btoa(data: string): string;
declare function fetch(input: any, init?: any): Promise<any>;
declare function addEventListener(type: string, listener: (event: any) => void, options?: any): void;
declare function removeEventListener(type: string, listener: (event: any) => void, options?: any): void;
declare function reportError(error: any): void;

declare class URLSearchParams {
  constructor(init?: string | string[][] | Record<string, string> | URLSearchParams);
  readonly size: number;
  append(name: string, value: string): void; delete(name: string): void; get(name: string): string | null;
  getAll(name: string): string[]; has(name: string): boolean; set(name: string, value: string): void; sort(): void;
  toString(): string; keys(): IterableIterator<string>; values(): IterableIterator<string>;
  entries(): IterableIterator<[string, string]>; [Symbol.iterator](): IterableIterator<[string, string]>;
  forEach(callback: (value: string, key: string, parent: URLSearchParams) => void): void;
}
declare class URL {
  constructor(url: string | URL, base?: string | URL);
  static canParse(url: string | URL, base?: string | URL): boolean;
  static parse(url: string | URL, base?: string | URL): URL | null;
  hash: string; host: string; hostname: string; href: string; readonly origin: string; password: string;
  pathname: string; port: string; protocol: string; search: string; readonly searchParams: URLSearchParams;
  username: string; toString(): string; toJSON(): string;
}
declare class TextEncoder { constructor(); readonly encoding: string; encode(input?: string): Uint8Array; }
declare class TextDecoder {
  constructor(label?: string, options?: any); readonly encoding: string; decode(input?: any, options?: any): string;
}
declare class AbortSignal {
  readonly aborted: boolean; readonly reason: any; throwIfAborted(): void; onabort: any;
  addEventListener(type: string, listener: (event: any) => void, options?: any): void;
  removeEventListener(type: string, listener: (event: any) => void): void;
  static timeout(ms: number): AbortSignal; static abort(reason?: any): AbortSignal;
  static any(signals: AbortSignal[]): AbortSignal;
}
declare class AbortController { constructor(); readonly signal: AbortSignal; abort(reason?: any): void; }
interface Crypto { randomUUID(): string; getRandomValues<T>(array: T): T; readonly subtle: any; }
declare var crypto: Crypto;
declare var performance: { now(): number; readonly timeOrigin: number; [name: string]: any };
declare var Deno: any, process: any, Buffer: any, navigator: any, self: any, Event: any, EventTarget: any;
declare var Blob: any, File: any, FormData: any, Headers: any, Request: any, Response: any, ReadableStream: any;
declare var WritableStream: any, TransformStream: any, CompressionStream: any, DecompressionStream: any;
declare var Worker: any, MessageChannel: any, WebAssembly: any, DOMException: any, Temporal: any, WebSocket: any;
declare module "node:*";
