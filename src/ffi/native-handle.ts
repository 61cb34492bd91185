import { type Outcome, STATUS, succeed } from '../protocol/status.ts';
import { type HostOptions, type NativeLibrary, openNativeLibrary } from './native-library.ts';
import { type BlockingDoor, OwnerCallback } from './owner-callback.ts';

const stopsAtExit = new Set<() => void>();

/** Service threads wait in native code: process.exit() would wait for them, were they not woken. One listener for all. */
function stopAtExit(stop: () => void): void {
  if (stopsAtExit.size === 0 && !process.listeners('exit').includes(stopAll)) process.on('exit', stopAll);
  stopsAtExit.add(stop);
}

function stopAll(): void {
  for (const stop of stopsAtExit) stop();
}

/**
 * An `epptok *` of this process: a native host without a socket, whose queue serves foreign threads, and a callback that
 * serves the thread that opens it.
 */
export class NativeHandle {
  readonly host: number;
  readonly handle: bigint;
  readonly #library: NativeLibrary;
  readonly #callback: OwnerCallback;
  readonly #stopHost: () => void;

  private constructor(library: NativeLibrary, host: number, handle: bigint, callback: OwnerCallback) {
    this.#library = library;
    this.host = host;
    this.handle = handle;
    this.#callback = callback;
    this.#stopHost = () => library.stop(host);
    stopAtExit(this.#stopHost);
  }

  /** `bundle` is where libepptok is looked for; `door` blocks this thread until a response is there. */
  static open(
    bundle: URL,
    options: HostOptions & { readonly timeoutMs: number },
    door: BlockingDoor,
  ): Outcome<NativeHandle> {
    const opened = openNativeLibrary(bundle);
    if (!opened.ok) return opened;
    const library = opened.value;
    const host = library.startHost(options);
    if (!host.ok) return host;
    // The queue is open at once: its first caller is what starts the services.
    library.setReady(host.value, STATUS.OK, '');
    const callback = new OwnerCallback(library, door);
    const handle = library.attach(host.value, callback.pointer, options.timeoutMs);
    if (!handle.ok) {
      callback.close();
      library.stop(host.value);
      return handle;
    }
    return succeed(new NativeHandle(library, host.value, handle.value, callback));
  }

  close(): void {
    stopsAtExit.delete(this.#stopHost);
    this.#library.closeHandle(this.handle);
    this.#library.stop(this.host);
    this.#callback.close();
  }
}
