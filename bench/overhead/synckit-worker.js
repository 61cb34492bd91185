import { runAsWorker } from 'synckit';

/** Answers `ids` ids and does nothing else. */
runAsWorker((_body, ids) => new Uint32Array(ids));
