import { parseArgs } from 'node:util';
import { stallThreshold } from '../core/event-loop/threshold.ts';
import { modelSpecs } from '../core/model-names.ts';
import { prepareModels } from '../core/prepare-models.ts';

/** The private child of a process that called epptok_open() without a socket; src/native/spawn.c writes this command line. */
const { values } = parseArgs({
  options: {
    'control-fd': { type: 'string' },
    parent: { type: 'string' },
    model: { type: 'string', multiple: true },
    engine: { type: 'string' },
    transformers: { type: 'string' },
    threads: { type: 'string', default: '0' },
    'max-queue-calls': { type: 'string', default: '0' },
    'max-queue-bytes': { type: 'string', default: '0' },
    'context-length': { type: 'string', default: '0' },
    'allow-chat-template': { type: 'boolean', default: false },
  },
});

const contextLength = Number(values['context-length']);
const models = modelSpecs(values.model ?? [], {
  engine: values.engine === 'dynamo' ? 'dynamo' : 'vllm',
  transformers: values.transformers === '5' ? 5 : 4,
  allowChatTemplate: values['allow-chat-template'],
  ...(contextLength > 0 ? { contextLength } : {}),
});
const prepared = prepareModels(models.ok ? models.value : [], new URL('./model-reader.js', import.meta.url));
// Loaded while the models are being read.
const [{ openLog, watchLoop }, { NativeServer }] = await Promise.all([
  import('./log.ts'),
  import('./native-server.ts'),
]);
const log = openLog(process.env.EPPTOK_LOG);
// A runtime that its parent waits for does not refuse to start for the sake of a log.
const traced = stallThreshold(process.env);
if (!traced.ok) log.warn(traced.fault.message);
const server = NativeServer.start(
  {
    models: models.ok ? models.value : [],
    threads: Number(values.threads),
    maxQueueCalls: Number(values['max-queue-calls']),
    maxQueueBytes: Number(values['max-queue-bytes']),
    controlFd: Number(values['control-fd']),
    endsWithParent: values.parent !== undefined,
  },
  watchLoop('runtime', traced.ok ? traced.value : 0, log),
  log,
);
if (server.ok) {
  // The parent's terminal sends its signals to the whole group; when this child ends is for the parent to say.
  process.on('SIGINT', () => {});
  // A failure is told to the parent, which asks whether its models are ready.
  const loading = models.ok
    ? server.value.load(prepared)
    : Promise.resolve(server.value.refuse(models.fault));
  log.info({ parent: values.parent, models: values.model?.length ?? 0 }, 'loading models');
  void loading.then((loaded) => {
    if (loaded.ok) log.info('ready');
    else log.error({ code: loaded.fault.status }, loaded.fault.message);
  });
  await server.value.ended;
  log.info('stopping');
  server.value.stop();
  process.exit(0);
}
log.error({ code: server.fault.status }, server.fault.message);
process.exit(1);
