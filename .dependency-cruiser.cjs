// The arrows of the house: which layer may import which. Everything points inward, to protocol.
const only = (layer, allowed) => ({
  name: `${layer}-imports-inward`,
  severity: 'error',
  from: { path: `^src/${layer}/` },
  to: { path: '^src/', pathNot: `^src/(${[layer, ...allowed].join('|')})/` },
});

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-undeclared-package',
      severity: 'error',
      from: {},
      to: { dependencyTypes: ['npm-no-pkg', 'unknown'] },
    },
    only('protocol', []),
    only('preprocess', ['protocol']),
    only('tokenizer', ['protocol']),
    only('core', ['protocol', 'preprocess', 'tokenizer']),
    only('sync', ['protocol']),
    only('ffi', ['protocol']),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};
