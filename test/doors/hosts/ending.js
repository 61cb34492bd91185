// A Node host with every kind of handle open and calls in flight, which then ends in the way its argument names.
import { AsyncTokenizer, Tokenizer } from 'epptok';
import { openPlugin, TEXT } from './plugin.js';

const [, , ending, model, pluginPath] = process.argv;
const words = 'words for the workers '.repeat(4000);
const bytes = Buffer.from(words);

const blocking = new Tokenizer({ model, threads: 1 });
const asynchronous = await AsyncTokenizer.create({ model, threads: 1 });
const { runOnThreads } = openPlugin(pluginPath);
// The service threads stand before the end comes.
runOnThreads(blocking.nativeHandle, 1, 1, TEXT, bytes, 5, null, null);

const inFlight = (calls) => {
  runOnThreads.async(blocking.nativeHandle, 2, calls, TEXT, bytes, bytes.length, null, null, () => {});
  for (let i = 0; i < calls; i++) asynchronous.tokenize({ kind: 'text', body: words }).catch(() => {});
};
const report = () => process.send?.({ endsAt: Date.now() });

const endings = {
  'process.exit'() {
    inFlight(1000);
    setTimeout(() => {
      report();
      process.exit(0);
    }, 100);
  },
  'an uncaught exception'() {
    inFlight(1000);
    setTimeout(() => {
      report();
      throw new Error('as the test wants');
    }, 100);
  },
  'SIGTERM without a handler'() {
    inFlight(1000);
    setTimeout(() => {
      report();
      setTimeout(() => process.kill(process.pid, 'SIGTERM'), 20);
    }, 100);
  },
  'SIGTERM with a handler'() {
    inFlight(1000);
    process.on('SIGTERM', () => {
      blocking.close();
      void asynchronous.close();
      process.disconnect?.();
    });
    setTimeout(() => {
      report();
      process.kill(process.pid, 'SIGTERM');
    }, 100);
  },
  'process.exit in a SIGTERM handler'() {
    inFlight(1000);
    process.on('SIGTERM', () => process.exit(0));
    setTimeout(() => {
      report();
      process.kill(process.pid, 'SIGTERM');
    }, 100);
  },
  'the natural end'() {
    inFlight(2);
    report();
    process.disconnect?.();
  },
};
endings[ending]();
