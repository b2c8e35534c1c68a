// Declarations of a program's globals for TypeScript's compiler, beside the language's own library, the same for every
// runner. Short, because each compiler process reads them. Rarely used globals are declared loosely. What a runner lacks
// is declared all the same: its own error at run time names what to use instead.
/** What the program was given. */
declare const input: any;
/** Shows a value to the user. */
declare function output(value: unknown): void;
/** The answer is complete. The program goes on to its end. */
declare function done(answer?: unknown): void;
/** Shows the response, keeps the data, and is done. */
declare function complete(what: { response: string; data?: unknown; followUp?: string }): { stored: boolean; followUp: boolean };
/** Writes to the log, which the user is not shown. */
declare function log(...values: unknown[]): void;
/** Keeps a value for a later program. */
declare function store(key: string, value: unknown): void;
/** The value that was kept under that key, or undefined. */
declare function recall(key: string): any;
declare function sleep(ms: number): Promise<void>;
/** Calls tools at the same time, by their ids. The results are in order; one that failed is {error}. */
declare function parallel(calls: { tool: string; input?: any; args?: any; arguments?: any }[]): Promise<any[]>;
declare function print(...values: any[]): void;
/** Any tool by its id: tools["weather.get"](input). */
declare const tools: { [id: string]: (input?: any) => Promise<Result<any>> };
type Result<T> =
  | { success: true; value: T }
  | { success: false; error: string };

interface ImportMeta { url: string; main: boolean; filename?: string; dirname?: string; resolve(name: string): string; }
interface ErrorConstructor { captureStackTrace(error: object, constructor?: Function): void; stackTraceLimit: number; }
interface Console {
  log(...data: any[]): void; info(...data: any[]): void; debug(...data: any[]): void; trace(...data: any[]): void;
  warn(...data: any[]): void; error(...data: any[]): void; dir(item?: any, options?: any): void;
  dirxml(...data: any[]): void; table(data?: any, columns?: string[]): void; assert(condition?: boolean, ...data: any[]): void;
  group(...data: any[]): void; groupCollapsed(...data: any[]): void; groupEnd(): void; clear(): void;
  count(label?: string): void; countReset(label?: string): void;
  time(label?: string): void; timeLog(label?: string, ...data: any[]): void; timeEnd(label?: string): void;
  timeStamp(label?: string): void; profile(label?: string): void; profileEnd(label?: string): void;
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
  append(name: string, value: string): void; delete(name: string, value?: string): void;
  get(name: string): string | null;
  getAll(name: string): string[]; has(name: string, value?: string): boolean; set(name: string, value: string): void;
  sort(): void;
  toString(): string; keys(): IterableIterator<string>; values(): IterableIterator<string>;
  entries(): IterableIterator<[string, string]>; [Symbol.iterator](): IterableIterator<[string, string]>;
  forEach(callback: (value: string, key: string, parent: URLSearchParams) => void): void;
}
declare class URL {
  constructor(url: string | URL, base?: string | URL);
  static canParse(url: string | URL, base?: string | URL): boolean;
  static parse(url: string | URL, base?: string | URL): URL | null;
  static createObjectURL(blob: Blob): string; static revokeObjectURL(url: string): void;
  hash: string; host: string; hostname: string; href: string; readonly origin: string; password: string;
  pathname: string; port: string; protocol: string; search: string; readonly searchParams: URLSearchParams;
  username: string; toString(): string; toJSON(): string;
}
declare class TextEncoder {
  constructor(); readonly encoding: string; encode(input?: string): Uint8Array<ArrayBuffer>;
  encodeInto(input: string, to: Uint8Array): { read: number; written: number };
}
declare class TextDecoder {
  constructor(label?: string, options?: any); readonly encoding: string; readonly fatal: boolean;
  readonly ignoreBOM: boolean; decode(input?: any, options?: any): string;
}
declare class AbortSignal {
  readonly aborted: boolean; readonly reason: any; throwIfAborted(): void; onabort: any;
  dispatchEvent(event: any): boolean;
  addEventListener(type: string, listener: (event: any) => void, options?: any): void;
  removeEventListener(type: string, listener: (event: any) => void): void;
  static timeout(ms: number): AbortSignal; static abort(reason?: any): AbortSignal;
  static any(signals: AbortSignal[]): AbortSignal;
}
declare class AbortController { constructor(); readonly signal: AbortSignal; abort(reason?: any): void; }
interface Crypto { randomUUID(): string; getRandomValues<T>(array: T): T; readonly subtle: SubtleCrypto; }
declare var crypto: Crypto, Crypto: LooseClass<Crypto>;
declare var performance: Performance;
interface Performance extends Loose { now(): number; readonly timeOrigin: number; }
interface CustomEvent<T = any> extends Loose { readonly detail: T; }
interface MessageEvent<T = any> extends Loose { readonly data: T; }
declare var Performance: LooseClass<Performance>;

// Deno's other globals: each exists, and its constructor makes an instance of it. Their members are `any`.
interface Loose {
  [name: string]: any; [Symbol.iterator](): IterableIterator<any>; [Symbol.asyncIterator](): AsyncIterableIterator<any>;
}
interface LooseClass<T> { new (...args: any[]): T; readonly prototype: T; [name: string]: any; }
interface LooseStatic { [name: string]: any; }
interface Blob extends Loose {} interface BroadcastChannel extends Loose {}
interface ByteLengthQueuingStrategy extends Loose {} interface CloseEvent extends Loose {}
interface CompressionStream extends Loose {} interface CountQueuingStrategy extends Loose {}
interface CryptoKey extends Loose {} interface DecompressionStream extends Loose {}
interface DOMException extends Loose {} interface QuotaExceededError extends Loose {}
interface DOMMatrix extends Loose {} interface DOMMatrixReadOnly extends Loose {} interface DOMPoint extends Loose {}
interface DOMPointReadOnly extends Loose {} interface DOMQuad extends Loose {} interface DOMRect extends Loose {}
interface DOMRectReadOnly extends Loose {} interface ErrorEvent extends Loose {} interface Event extends Loose {}
interface EventTarget extends Loose {} interface File extends Loose {} interface FileReader extends Loose {}
interface FormData extends Loose {} interface Headers extends Loose {} interface ImageData extends Loose {}
interface ImageBitmap extends Loose {} interface PerformanceEntry extends Loose {}
interface PerformanceMark extends Loose {} interface PerformanceMeasure extends Loose {}
interface PerformanceObserver extends Loose {} interface PerformanceObserverEntryList extends Loose {}
interface PromiseRejectionEvent extends Loose {} interface ProgressEvent extends Loose {}
interface ReadableStream<R = any> extends Loose {} interface ReadableStreamDefaultReader<R = any> extends Loose {}
interface Request extends Loose {} interface Response extends Loose {} interface TextDecoderStream extends Loose {}
interface TextEncoderStream extends Loose {} interface TransformStream<I = any, O = any> extends Loose {}
interface URLPattern extends Loose {} interface WebSocket extends Loose {} interface MessageChannel extends Loose {}
interface MessagePort extends Loose {} interface Worker extends Loose {}
interface WritableStream<W = any> extends Loose {} interface WritableStreamDefaultWriter<W = any> extends Loose {}
interface WritableStreamDefaultController extends Loose {} interface ReadableByteStreamController extends Loose {}
interface ReadableStreamBYOBReader extends Loose {} interface ReadableStreamBYOBRequest extends Loose {}
interface ReadableStreamDefaultController<R = any> extends Loose {}
interface TransformStreamDefaultController<O = any> extends Loose {} interface CacheStorage extends Loose {}
interface Cache extends Loose {} interface SubtleCrypto extends Loose {} interface EventSource extends Loose {}
interface OffscreenCanvas extends Loose {} interface ImageBitmapRenderingContext extends Loose {}
interface Lock extends Loose {} interface LockManager extends Loose {} interface Location extends Loose {}
interface Window extends Loose {} interface Navigator extends Loose {} interface NavigatorUAData extends Loose {}
interface Storage extends Loose {}
declare var Blob: LooseClass<Blob>, BroadcastChannel: LooseClass<BroadcastChannel>,
  ByteLengthQueuingStrategy: LooseClass<ByteLengthQueuingStrategy>, CloseEvent: LooseClass<CloseEvent>,
  CompressionStream: LooseClass<CompressionStream>, CountQueuingStrategy: LooseClass<CountQueuingStrategy>,
  CryptoKey: LooseClass<CryptoKey>, DecompressionStream: LooseClass<DecompressionStream>,
  DOMException: LooseClass<DOMException>, QuotaExceededError: LooseClass<QuotaExceededError>,
  DOMMatrix: LooseClass<DOMMatrix>, DOMMatrixReadOnly: LooseClass<DOMMatrixReadOnly>, DOMPoint: LooseClass<DOMPoint>,
  DOMPointReadOnly: LooseClass<DOMPointReadOnly>, DOMQuad: LooseClass<DOMQuad>, DOMRect: LooseClass<DOMRect>,
  DOMRectReadOnly: LooseClass<DOMRectReadOnly>, ErrorEvent: LooseClass<ErrorEvent>, Event: LooseClass<Event>,
  EventTarget: LooseClass<EventTarget>, File: LooseClass<File>, FileReader: LooseClass<FileReader>,
  FormData: LooseClass<FormData>, Headers: LooseClass<Headers>, ImageData: LooseClass<ImageData>,
  ImageBitmap: LooseClass<ImageBitmap>, PerformanceEntry: LooseClass<PerformanceEntry>,
  PerformanceMark: LooseClass<PerformanceMark>, PerformanceMeasure: LooseClass<PerformanceMeasure>,
  PerformanceObserver: LooseClass<PerformanceObserver>,
  PerformanceObserverEntryList: LooseClass<PerformanceObserverEntryList>,
  PromiseRejectionEvent: LooseClass<PromiseRejectionEvent>, ProgressEvent: LooseClass<ProgressEvent>,
  Request: LooseClass<Request>, Response: LooseClass<Response>, TextDecoderStream: LooseClass<TextDecoderStream>,
  TextEncoderStream: LooseClass<TextEncoderStream>,
  URLPattern: LooseClass<URLPattern>, WebSocket: LooseClass<WebSocket>, MessageChannel: LooseClass<MessageChannel>,
  MessagePort: LooseClass<MessagePort>, Worker: LooseClass<Worker>,
  WritableStreamDefaultController: LooseClass<WritableStreamDefaultController>,
  ReadableByteStreamController: LooseClass<ReadableByteStreamController>,
  ReadableStreamBYOBReader: LooseClass<ReadableStreamBYOBReader>,
  ReadableStreamBYOBRequest: LooseClass<ReadableStreamBYOBRequest>,
  CacheStorage: LooseClass<CacheStorage>, Cache: LooseClass<Cache>, SubtleCrypto: LooseClass<SubtleCrypto>,
  EventSource: LooseClass<EventSource>, OffscreenCanvas: LooseClass<OffscreenCanvas>,
  ImageBitmapRenderingContext: LooseClass<ImageBitmapRenderingContext>, Lock: LooseClass<Lock>,
  LockManager: LooseClass<LockManager>, Location: LooseClass<Location>, Window: LooseClass<Window>,
  Navigator: LooseClass<Navigator>, NavigatorUAData: LooseClass<NavigatorUAData>, Storage: LooseClass<Storage>;
type BodyInit = any; type BlobPart = any; type BlobPropertyBag = any; type BufferSource = any;
type Transferable = any; type HeadersInit = any; type RequestInfo = any; type RequestInit = any;
type ResponseInit = any; type EventInit = any; type CustomEventInit<A = any> = any;
type MessageEventInit<A = any> = any; type ErrorEventInit = any; type FilePropertyBag = any;
type FormDataEntryValue = any; type EventListener = any; type EventListenerObject = any;
type EventListenerOrEventListenerObject = any; type AddEventListenerOptions = any;
type StructuredSerializeOptions = any; type QueuingStrategy<A = any> = any;
type ReadableWritablePair<A = any, B = any> = any; type StreamPipeOptions = any;
type UnderlyingSource<A = any> = any; type UnderlyingSink<A = any> = any; type Transformer<A = any, B = any> = any;
type ReadableStreamReadResult<A = any> = any; type TextDecoderOptions = any; type TextDecodeOptions = any;
type TextEncoderEncodeIntoResult = any; type URLPatternInit = any; type URLPatternInput = any;
type URLPatternResult = any; type WorkerOptions = any; type Algorithm = any; type AlgorithmIdentifier = any;
type JsonWebKey = any; type KeyUsage = any; type CryptoKeyPair = any; type KeyAlgorithm = any;
type CompressionFormat = any; type BinaryType = any; type PerformanceEntryList = any;
declare var Deno: any, process: any, Buffer: any, navigator: any, self: any, window: any, global: any, location: any,
  caches: any, closed: any, onerror: any, onload: any, onunload: any, onbeforeunload: any, onunhandledrejection: any,
  WebAssembly: any;
declare var GPU: any, GPUAdapter: any, GPUAdapterInfo: any, GPUBuffer: any, GPUBufferUsage: any,
  GPUCanvasContext: any, GPUColorWrite: any, GPUCommandBuffer: any, GPUCommandEncoder: any, GPUCompilationInfo: any,
  GPUCompilationMessage: any,
  GPUComputePassEncoder: any, GPUComputePipeline: any, GPUDevice: any, GPUDeviceLostInfo: any, GPUError: any,
  GPUBindGroup: any, GPUBindGroupLayout: any, GPUInternalError: any, GPUPipelineError: any,
  GPUUncapturedErrorEvent: any, GPUPipelineLayout: any, GPUQueue: any, GPUQuerySet: any, GPUMapMode: any,
  GPUOutOfMemoryError: any, GPURenderBundle: any, GPURenderBundleEncoder: any, GPURenderPassEncoder: any,
  GPURenderPipeline: any, GPUSampler: any, GPUShaderModule: any, GPUShaderStage: any, GPUSupportedFeatures: any,
  GPUSupportedLimits: any, GPUTexture: any, GPUTextureView: any, GPUTextureUsage: any, GPUValidationError: any;
declare var ReadableStream: LooseStatic & { new <R = any>(...args: any[]): ReadableStream<R>; };
declare var ReadableStreamDefaultReader: LooseStatic & {
  new <R = any>(...args: any[]): ReadableStreamDefaultReader<R>;
};
declare var ReadableStreamDefaultController: LooseStatic & {
  new <R = any>(...args: any[]): ReadableStreamDefaultController<R>;
};
declare var WritableStream: LooseStatic & { new <W = any>(...args: any[]): WritableStream<W>; };
declare var WritableStreamDefaultWriter: LooseStatic & {
  new <W = any>(...args: any[]): WritableStreamDefaultWriter<W>;
};
declare var TransformStream: LooseStatic & { new <I = any, O = any>(...args: any[]): TransformStream<I, O>; };
declare var TransformStreamDefaultController: LooseStatic & {
  new <O = any>(...args: any[]): TransformStreamDefaultController<O>;
};
declare var CustomEvent: LooseStatic & { new <T = any>(...args: any[]): CustomEvent<T>; };
declare var MessageEvent: LooseStatic & { new <T = any>(...args: any[]): MessageEvent<T>; };
declare var localStorage: Storage, sessionStorage: Storage;
declare const name: void;
declare function alert(message?: string): void;
declare function confirm(message?: string): boolean;
declare function prompt(message?: string, given?: string): string | null;
declare function close(): void;
declare function dispatchEvent(event: any): boolean;
declare function createImageBitmap(...args: any[]): Promise<any>;
declare function setImmediate(callback: (...args: any[]) => void, ...args: any[]): any;
declare function clearImmediate(id?: any): void;
type Buffer = any; type Timer = any;
declare namespace NodeJS {
  type Timeout = any; type Timer = any; type Immediate = any; type ErrnoException = any; type ProcessEnv = any;
  type Process = any; type ReadableStream = any; type WritableStream = any; type ReadWriteStream = any;
  type Signals = any; type ArrayBufferView = any; type Dict<T> = { [key: string]: T | undefined };
}
declare namespace WebAssembly {
  type Module = any; type Instance = any; type Memory = any; type Table = any; type Global = any; type Imports = any;
  type Exports = any; type ImportValue = any; type ExportValue = any; type ModuleImports = any; type CompileError = any;
  type LinkError = any; type RuntimeError = any; type WebAssemblyInstantiatedSource = any;
}
declare namespace Deno {
  type Addr = any; type BasicAuth = any; type CaaRecord = any; type ChildProcess = any; type Command = any;
  type CommandOptions = any; type CommandOutput = any; type CommandStatus = any; type ConditionalAsync = any;
  type Conn = any; type ConnectOptions = any; type ConnectTlsOptions = any; type CreateHttpClientOptions = any;
  type DatagramConn = any; type DirEntry = any; type Env = any; type EnvPermissionDescriptor = any;
  type FfiPermissionDescriptor = any; type FileInfo = any; type FsEvent = any; type FsEventFlag = any;
  type FsFile = any; type FsWatcher = any; type HttpClient = any; type HttpServer = any;
  type ImportPermissionDescriptor = any; type InspectOptions = any; type ListenOptions = any;
  type ListenTlsOptions = any; type Listener = any; type MakeTempOptions = any; type MemoryUsage = any;
  type MkdirOptions = any; type MxRecord = any; type NetAddr = any; type NetPermissionDescriptor = any;
  type NetworkInterfaceInfo = any; type OpenOptions = any; type PermissionDescriptor = any;
  type PermissionName = any; type PermissionOptions = any; type PermissionOptionsObject = any;
  type PermissionState = any; type PermissionStatus = any; type PermissionStatusEventMap = any;
  type Permissions = any; type Proxy = any; type ReadFileOptions = any; type ReadPermissionDescriptor = any;
  type RemoveOptions = any; type ResolveDnsOptions = any; type RunPermissionDescriptor = any; type SeekMode = any;
  type ServeDefaultExport = any; type ServeHandler = any; type ServeHandlerInfo = any; type ServeInit = any;
  type ServeOptions = any; type ServeTcpOptions = any; type ServeUnixOptions = any; type SetRawOptions = any;
  type Signal = any; type SoaRecord = any; type SrvRecord = any; type StartTlsOptions = any;
  type SubprocessReadableStream = any; type SymlinkOptions = any; type SysPermissionDescriptor = any;
  type SystemMemoryInfo = any; type TcpConn = any; type TcpListenOptions = any; type TcpListener = any;
  type TlsCertifiedKeyPem = any; type TlsConn = any; type TlsHandshakeInfo = any; type TlsListener = any;
  type UdpListenOptions = any; type UnixAddr = any; type UnixConn = any; type UnixConnectOptions = any;
  type UnixListenDatagramOptions = any; type UnixListenOptions = any; type UnixListener = any;
  type UpgradeWebSocketOptions = any; type WebSocketUpgrade = any; type WriteFileOptions = any;
  type WritePermissionDescriptor = any;
  namespace errors {
    type NotFound = any; type PermissionDenied = any; type ConnectionRefused = any; type ConnectionReset = any;
    type ConnectionAborted = any; type NotConnected = any; type AddrInUse = any; type AddrNotAvailable = any;
    type BrokenPipe = any; type AlreadyExists = any; type InvalidData = any; type TimedOut = any;
    type Interrupted = any; type WriteZero = any; type UnexpectedEof = any; type BadResource = any; type Http = any;
    type Busy = any; type NotSupported = any; type NotCapable = any; type WouldBlock = any; type IsADirectory = any;
    type NotADirectory = any; type NetworkUnreachable = any; type FilesystemLoop = any;
  }
}
declare module "node:*";
