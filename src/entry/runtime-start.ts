import './models-ahead.ts';

// Loaded while the models are being read: it brings half of the dependencies with it.
await import('./runtime-thread.ts');
