export { buildEngine, type Verdict } from './builder/build-engine.ts';
export { unsoundMerges } from './builder/model-tables.ts';
export { scanTokenizer } from './builder/scan-tokenizer.ts';
export { ScannedMerges } from './builder/scanned-merges.ts';
export { Vocabulary } from './builder/vocabulary.ts';
export { type EngineOptions, type EngineTables, openEngine } from './engine.ts';
export { warmUp } from './warm-up.ts';
