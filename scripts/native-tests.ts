import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/**
 * The C suite, four times: as it is shipped (what `npm run build` left in build/native), under AddressSanitizer with
 * UndefinedBehaviorSanitizer and a leak check, under ThreadSanitizer, and then the libFuzzer programs for a bounded time.
 *
 *     npm run test:native [-- plain address thread fuzz] [--fuzz-seconds 20] [--fuzz-required]
 *
 * Without clang the fuzzing is left out, with a word; --fuzz-required makes that an error.
 */
const ALL = ['plain', 'address', 'thread', 'fuzz'] as const;
type Build = (typeof ALL)[number];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'fuzz-seconds': { type: 'string', default: '20' },
    'fuzz-required': { type: 'boolean', default: false },
  },
});
const unknown = positionals.find((name) => !ALL.some((build) => build === name));
if (unknown !== undefined) stop(`${unknown}: one of ${ALL.join(', ')}`);
const chosen = positionals.length > 0 ? ALL.filter((build) => positionals.includes(build)) : ALL;
const fuzzSeconds = Number(values['fuzz-seconds']);
if (!(fuzzSeconds >= 1)) stop(`--fuzz-seconds ${values['fuzz-seconds']}: a number of seconds`);

for (const build of chosen) {
  const started = Date.now();
  const done = build === 'fuzz' ? fuzz() : suite(build);
  if (done) console.log(`${build}: passed in ${Math.round((Date.now() - started) / 1000)} s`);
}

function suite(build: Exclude<Build, 'fuzz'>): boolean {
  if (build === 'plain') {
    if (!existsSync('build/native/CTestTestfile.cmake')) stop('build/native is missing: npm run build first');
    ctest('build/native', []);
    return true;
  }
  configure(build, [`-DEPPTOK_SANITIZE=${build}`]);
  cmake(['--build', folder(build), '--parallel', '2']);
  // What does not depend on instrumentation has been tested; Node itself reports races.
  const left = ['header_as', 'exported_symbols', ...(build === 'thread' ? ['real_model'] : [])];
  ctest(folder(build), ['-E', left.join('|')]);
  return true;
}

/** Half-optimised: as fast to build and to run as an instrumented suite can be, with stacks that can be read. */
function configure(build: Build, options: readonly string[]): void {
  cmake(['-S', '.', '-B', folder(build), '-DCMAKE_BUILD_TYPE=None', '-DCMAKE_C_FLAGS=-O1', ...options]);
}

function fuzz(): boolean {
  if (!clangCanFuzz()) {
    const word = 'fuzz: left out, there is no clang with libFuzzer (Debian: apt-get install clang)';
    if (values['fuzz-required']) stop(word);
    console.log(word);
    return false;
  }
  configure('fuzz', ['-DCMAKE_C_COMPILER=clang', '-DEPPTOK_SANITIZE=address', '-DEPPTOK_FUZZ=ON']);
  const programs = ['frame_fuzz', 'host_fuzz'];
  cmake(['--build', folder('fuzz'), '--parallel', '2', '--target', ...programs]);
  for (const program of programs) {
    const corpus = join(folder('fuzz'), `${program}.corpus`);
    rmSync(corpus, { recursive: true, force: true });
    mkdirSync(corpus);
    plantSeeds(program, corpus);
    const binary = join(folder('fuzz'), 'native-test/fuzz', program);
    const log = must(
      binary,
      [
        corpus,
        `-max_total_time=${fuzzSeconds}`,
        '-max_len=8192',
        '-timeout=30',
        '-print_final_stats=1',
        `-artifact_prefix=${folder('fuzz')}/${program}-`,
      ],
      'pipe',
    );
    const [, runs] = /Done (\d+) runs/.exec(log) ?? [];
    console.log(`${program}: ${runs ?? 'no'} inputs, ${readdirSync(corpus).length} worth keeping`);
    if (runs === undefined) stop(`${program} did not say how much it did:\n${log}`);
  }
  return true;
}

/** Golden frames as they are; for the host, behind the byte that says how its peer behaves and one long write. */
function plantSeeds(program: string, corpus: string): void {
  const golden = 'native-test/golden';
  if (program === 'frame_fuzz') {
    cpSync(golden, corpus, { recursive: true });
    return;
  }
  for (const name of readdirSync(golden)) {
    const frame = readFileSync(join(golden, name));
    for (const behaviour of [0, 1, 3]) {
      writeFileSync(join(corpus, `${behaviour}-${name}`), Buffer.concat([Buffer.of(behaviour, 255), frame]));
    }
  }
}

function clangCanFuzz(): boolean {
  const program =
    'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { (void)d; return n > 1u << 30; }';
  const flags = ['-fsanitize=fuzzer,address', '-x', 'c', '-', '-o', '/dev/null'];
  return spawnSync('clang', flags, { input: program }).status === 0;
}

function folder(build: Build): string {
  return `build/${build}`;
}

function cmake(args: readonly string[]): void {
  must('cmake', args, 'pipe');
}

function ctest(directory: string, args: readonly string[]): void {
  must('ctest', ['--test-dir', directory, '--output-on-failure', '--no-tests=error', ...args], 'inherit');
}

/** Runs it to its end; what it wrote is shown when it failed. */
function must(program: string, args: readonly string[], output: 'pipe' | 'inherit'): string {
  const ended = spawnSync(program, args, {
    stdio: ['ignore', output, output],
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  const log = `${ended.stdout ?? ''}${ended.stderr ?? ''}`;
  if (ended.status !== 0) {
    const how = ended.error?.message ?? `ended with ${ended.status ?? ended.signal}`;
    stop(`${log}\n${program} ${args.join(' ')}: ${how}`);
  }
  return log;
}

function stop(why: string): never {
  console.error(why);
  process.exit(1);
}
