#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { AsyncTokenizer } from './async-tokenizer.ts';
import { stallThreshold } from './core/event-loop/threshold.ts';
import { modelSpecs } from './core/model-names.ts';
import { prepareModels } from './core/prepare-models.ts';
import { diagnose } from './doctor.ts';
import { LOG_LEVELS, openLog, watchLoop } from './entry/log.ts';
import { type MetricsAddress, MetricsServer, metricsAddress } from './entry/metrics-server.ts';
import { NativeServer } from './entry/native-server.ts';
import { EpptokError } from './errors.ts';
import { MAX_QUEUE_CALLS, MAX_THREADS } from './options.ts';
import { KINDS, type Kind } from './protocol/messages.ts';
import type { Fault } from './protocol/status.ts';
import type { TokenizeResult } from './result.ts';

const VERSION = (
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
).version;

interface ModelArguments {
  readonly model: string[];
  readonly engine: 'vllm' | 'dynamo';
  readonly transformers: '4' | '5';
  readonly contextLength?: number;
}

interface ServeArguments extends ModelArguments {
  readonly threads: number;
  readonly allowChatTemplate?: true;
  readonly socket: string;
  readonly socketGroup?: string;
  readonly maxQueueCalls: number;
  readonly maxQueueBytes: number;
  readonly metrics?: MetricsAddress;
  readonly stallTraceMs?: number;
  readonly log: string;
}

interface EncodeArguments extends ModelArguments {
  readonly allowChatTemplate?: true;
  readonly kind: Kind;
  readonly json?: true;
  readonly prompt?: true;
}

const program = new Command('epptok')
  .description('Exact prompt token ids for LLM gateways.')
  .version(VERSION)
  .showHelpAfterError()
  .configureOutput({
    outputError: (text, write) => write(text.replace(/^error: /, 'epptok: INVALID_ARGUMENT: ')),
  })
  .addHelpText(
    'after',
    `
Examples:
  epptok serve --model /models/qwen3 --socket /run/epptok/epptok.sock
  epptok encode --model /models/qwen3 --kind text hello.txt
  epptok doctor --model /models/qwen3
  echo '{"messages":[{"role":"user","content":"Hi"}]}' | epptok encode --model /models/qwen3 --json`,
  );

/** Of the commands that take requests. */
const ALLOW_CHAT_TEMPLATE = [
  '--allow-chat-template',
  'take a chat_template from requests; otherwise they are refused',
] as const;

withModelOptions(program.command('serve'))
  .description('Serve token ids to libepptok on a unix socket until SIGTERM or SIGINT.')
  .requiredOption(
    '--socket <path>',
    'where to listen; the last directory of it is made with mode 0700, the socket with 0600',
  )
  .option('--threads <n>', 'worker threads, at most 1024; 0: the cores available', threadNumber, 0)
  .option(...ALLOW_CHAT_TEMPLATE)
  .option('--socket-group <group>', 'let this group in: directory 0750, socket 0660')
  .option('--max-queue-calls <n>', 'calls that may wait before BACKPRESSURE', queueCalls, 1024)
  .option('--max-queue-bytes <n>', 'bytes that may wait before BACKPRESSURE', wholeNumber, 256 * 1024 * 1024)
  .option(
    '--metrics <[host:]port>',
    'serve /metrics, /healthz and /readyz over HTTP; without a host, on 127.0.0.1',
    addressOf,
  )
  .option(
    '--stall-trace-ms <n>',
    'log event-loop stalls of n ms and more; 0: none; default: EPPTOK_STALL_TRACE_MS',
    wholeNumber,
  )
  .addOption(
    new Option('--log <level>', 'what is logged to standard error, never with prompts in it')
      .choices(LOG_LEVELS)
      .default('info'),
  )
  .action(serve);

withModelOptions(program.command('encode'))
  .description('Print the token ids of one request body, one sequence per line.')
  .argument('[file]', 'the request body (JSON), or the text itself for kind text; standard input by default')
  .addOption(
    new Option('--kind <kind>', 'what the body is; auto tells it by its fields')
      .choices(KINDS)
      .default('auto'),
  )
  .option(...ALLOW_CHAT_TEMPLATE)
  .option('--json', 'print one JSON object: ids, sequences, provenance, model, times in microseconds')
  .option('--prompt', 'with --json: the rendered prompt too')
  .action(encode);

withModelOptions(program.command('doctor'))
  .description('Say of each model whether it is done exactly, and what it is; exit 1 if one is not.')
  .action(examine);

function withModelOptions(command: Command): Command {
  return command
    .requiredOption(
      '--model <[name=]dir>',
      'model directory with tokenizer.json; repeat it for several models',
      (value: string, before: string[] = []) => [...before, value],
    )
    .option('--context-length <n>', "tokens, instead of the model's own; 0: the model's own", wholeNumber)
    .addOption(
      new Option('--engine <name>', 'whose special tokens completions, embeddings and texts get')
        .choices(['vllm', 'dynamo'])
        .default('vllm'),
    )
    .addOption(
      new Option('--transformers <major>', 'version that the engine runs on: 5 ignores add_bos_token')
        .choices(['4', '5'])
        .default('4'),
    );
}

const major = (transformers: '4' | '5') => (transformers === '5' ? 5 : 4);

async function serve(options: ServeArguments): Promise<void> {
  const log = openLog(options.log);
  const { engine, contextLength, threads, maxQueueCalls, maxQueueBytes } = options;
  const transformers = major(options.transformers);
  const models = modelSpecs(options.model, {
    engine,
    transformers,
    allowChatTemplate: options.allowChatTemplate ?? false,
    ...(contextLength ? { contextLength } : {}),
  });
  if (!models.ok) die({ ...models.fault, message: `--model: ${models.fault.message}` });
  const traced = stallThreshold(process.env);
  if (!traced.ok) die(traced.fault);
  const loop = watchLoop('runtime', options.stallTraceMs ?? traced.value, log);
  const socket = { socketPath: options.socket, socketGroup: options.socketGroup };
  const server = NativeServer.start(
    { models: models.value, threads, maxQueueCalls, maxQueueBytes, ...socket },
    loop,
    log,
  );
  if (!server.ok) die(server.fault);
  const prepared = prepareModels(models.value, new URL('./model-reader.js', import.meta.url));
  const metrics = options.metrics && (await MetricsServer.listen(options.metrics, server.value));
  if (metrics && !metrics.ok) {
    server.value.stop();
    die(metrics.fault);
  }
  const stop = (signal: string) => {
    log.info({ signal }, 'stopping');
    server.value.stop();
    // Now, not when models have loaded or service threads are done with what they have in hand: callers have their answers.
    process.exit(0);
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  log.info(
    { socket: options.socket, metrics: metrics?.value.url, models: options.model.length },
    'listening; loading models',
  );
  const loaded = await server.value.load(prepared);
  if (!loaded.ok) {
    server.value.stop();
    die(loaded.fault);
  }
  log.info('ready');
}

async function encode(file: string | undefined, options: EncodeArguments): Promise<void> {
  if (options.prompt && !options.json) {
    die({ status: 'INVALID_ARGUMENT', message: '--prompt is printed with --json only' });
  }
  const { engine, contextLength, kind } = options;
  let tokenizer: AsyncTokenizer | undefined;
  try {
    const body = file === undefined ? await standardInput() : readFileSync(file);
    tokenizer = await AsyncTokenizer.create({
      model: options.model,
      threads: 1,
      engine,
      transformers: major(options.transformers),
      allowChatTemplate: options.allowChatTemplate ?? false,
      ...(contextLength ? { contextLength } : {}),
    });
    const result = await tokenizer.tokenize({ kind, body, prompt: options.prompt ?? false });
    process.stdout.write(options.json ? `${JSON.stringify(printable(result))}\n` : lines(result));
    for (const warning of result.warnings ?? []) process.stderr.write(`warning: ${warning}\n`);
  } catch (error) {
    if (error instanceof EpptokError) die({ status: error.code, message: error.message });
    if (error instanceof Error && 'syscall' in error)
      die({ status: 'INVALID_ARGUMENT', message: error.message });
    throw error;
  } finally {
    await tokenizer?.close();
  }
}

/** As a stream: a descriptor that does not block would fail a plain read with EAGAIN. */
async function standardInput(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function examine(options: ModelArguments): void {
  const models = modelSpecs(options.model, {
    engine: options.engine,
    transformers: major(options.transformers),
    ...(options.contextLength ? { contextLength: options.contextLength } : {}),
  });
  if (!models.ok) die({ ...models.fault, message: `--model: ${models.fault.message}` });
  let refused = false;
  for (const { model, directory, verdict, lines } of models.value.map(diagnose)) {
    const outcome = verdict === 'exact' ? 'exact' : `${verdict.status}: ${verdict.message}`;
    process.stdout.write(`${model} in ${directory}\n  verdict          ${outcome}\n`);
    for (const line of lines) process.stdout.write(`  ${line}\n`);
    refused ||= verdict !== 'exact';
  }
  process.exitCode = refused ? 1 : 0;
}

function printable(result: TokenizeResult) {
  return { ...result, ids: [...result.ids], sequences: result.sequences.map((sequence) => [...sequence]) };
}

function lines(result: TokenizeResult): string {
  return result.sequences.map((sequence) => `${sequence.join(' ')}\n`).join('');
}

function addressOf(value: string): MetricsAddress {
  const address = metricsAddress(value);
  if (address === undefined) throw new InvalidArgumentError('It must be host:port, [v6]:port or a port.');
  return address;
}

function wholeNumber(value: string): number {
  if (!/^\d{1,15}$/.test(value)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(value);
}

function threadNumber(value: string): number {
  const threads = wholeNumber(value);
  if (threads > MAX_THREADS) throw new InvalidArgumentError(`It must be at most ${MAX_THREADS}.`);
  return threads;
}

function queueCalls(value: string): number {
  const calls = wholeNumber(value);
  if (calls < 1 || calls > MAX_QUEUE_CALLS)
    throw new InvalidArgumentError(`It must be from 1 to ${MAX_QUEUE_CALLS}.`);
  return calls;
}

function die({ status, message }: Fault): never {
  process.stderr.write(`epptok: ${status}: ${message}\n`);
  process.exit(1);
}

// A reader that has seen enough, as head(1), is no failure; a full disk is.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  die({ status: 'INVALID_ARGUMENT', message: `standard output: ${error.message}` });
});
await program.parseAsync();
