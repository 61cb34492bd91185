// native-test/plugin.c, as the hosts of this folder load it: they run without TypeScript, as a user's do.
import koffi from 'koffi';

/** Kinds of include/epptok.h. */
export const CHAT = 1;
export const TEXT = 4;

export function openPlugin(path) {
  const plugin = koffi.load(path);
  const [word, memory, size] = ['uint32_t', 'void *', 'size_t'];
  return {
    tokenize: plugin.func('plugin_tokenize', 'int32_t', [
      ...['uint64_t', word, word, memory, size], // handle, in a thread of its own, kind, body, length
      ...[memory, size, memory, memory, memory, size], // ids, capacity, count, transport, message, capacity
    ]),
    runOnThreads: plugin.func('plugin_run_on_threads', word, [
      ...['uint64_t', word, word, word, memory, size], // handle, threads, calls, kind, body, length
      ...[memory, memory], // workers, statuses
    ]),
  };
}
