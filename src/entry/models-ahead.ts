import { workerData } from 'node:worker_threads';
import { prepareModels } from '../core/prepare-models.ts';
import type { RuntimeSettings } from '../core/runtime.ts';
import type { RuntimeSeed } from '../sync/runtime.ts';

const { settings } = workerData as RuntimeSeed<RuntimeSettings>;

/** The models of this runtime thread. They are read from the moment on at which this file is loaded. */
export const modelsAhead = prepareModels(settings.models, new URL('./model-reader.js', import.meta.url));
