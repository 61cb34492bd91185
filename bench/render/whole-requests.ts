import { type Models, openModels } from '../../src/core/model.ts';
import { prepareModel } from '../../src/core/prepare-model.ts';
import { serve } from '../../src/core/serve.ts';
import { warmUp } from '../../src/core/warm-up.ts';
import type { Response } from '../../src/protocol/messages.ts';
import { modelDirectory, type RealModel } from '../../test/models.ts';
import { median } from '../statistics.ts';
import { type Conversation, FIVE_TURNS, MANY_TURNS, TOOL } from './conversations.ts';
import { batchOf, cpuTime, type Rounds } from './rounds.ts';

/** A whole request, from its bytes to ids: CPU microseconds in all, and the share of each stage. */
export interface RequestRow {
  readonly template: string;
  readonly body: string;
  readonly bytes: number;
  readonly tokens: number;
  readonly totalUs: number;
  readonly parse: number;
  readonly render: number;
  readonly encode: number;
}

const STAGES = ['parse', 'template', 'encode'] as const;

function open(name: RealModel): Models {
  const prepared = prepareModel({ name, directory: modelDirectory(name), contextLength: 1_000_000 });
  if (!prepared.ok) throw new Error(prepared.fault.message);
  const models = openModels([prepared.value]);
  if (!models.ok) throw new Error(models.fault.message);
  warmUp(models.value);
  return models.value;
}

/** As a client sends it: sampling parameters, of which one is 1.0, stand around the messages. */
function bodyOf({ messages }: Conversation, tools: boolean): Buffer {
  const sampling = '"temperature":1.0,"top_p":0.95,"max_tokens":512,"stream":true';
  const given = tools ? `,"tools":${JSON.stringify([TOOL, TOOL, TOOL])}` : '';
  return Buffer.from(`{"model":"m","messages":${JSON.stringify(messages)},${sampling}${given}}`);
}

/** Stages are timed by the clock, which the rest of the machine shares: their medians are put in proportion. */
export function measureRequests(names: readonly RealModel[], rounds: Rounds): RequestRow[] {
  const cases = names.flatMap((template) => {
    const models = open(template);
    return [FIVE_TURNS, MANY_TURNS].flatMap((conversation) =>
      [false, true].map((tools) => {
        const body = bodyOf(conversation, tools);
        const run = () =>
          answered(serve({ operation: 'tokenize', kind: 'auto', flags: 0, model: '', body }, models, 0));
        return { template, name: `${conversation.name}${tools ? ', tools' : ''}`, bytes: body.length, run };
      }),
    );
  });
  for (const { run } of cases) batchOf(run, rounds);
  return cases.map(({ template, name, bytes, run }) => {
    const batch = batchOf(run, rounds);
    const totals: number[] = [];
    const stages: Record<(typeof STAGES)[number], number[]> = { parse: [], template: [], encode: [] };
    for (let round = 0; round < rounds.rounds; round++) {
      const start = cpuTime();
      const spent = { parse: 0, template: 0, encode: 0 };
      for (let call = 0; call < batch; call++) {
        const { timings } = run();
        for (const stage of STAGES) spent[stage] += timings[stage];
      }
      totals.push((cpuTime() - start) / batch);
      for (const stage of STAGES) stages[stage].push(spent[stage] / batch);
    }
    const times = STAGES.map((stage) => median(stages[stage]));
    const all = times.reduce((sum, time) => sum + time, 0);
    const [parse, render, encode] = times.map((time) => time / all) as [number, number, number];
    const tokens = run().ids.length;
    return { template, body: name, bytes, tokens, totalUs: median(totals), parse, render, encode };
  });
}

function answered(response: Response): Response {
  if (response.status !== 'OK') throw new Error(response.message);
  return response;
}
