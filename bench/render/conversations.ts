export const TOOL = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Weather of a city',
    parameters: {
      type: 'object',
      properties: {
        city: { type: 'string', description: 'Name of the city' },
        unit: { type: 'string', enum: ['celsius', 'fahrenheit'] },
        days: { type: 'integer', default: 3 },
      },
      required: ['city'],
    },
  },
};

export interface Conversation {
  readonly name: string;
  readonly messages: object[];
}

function conversation(turns: number, characters: number): object[] {
  const text = 'The quick brown fox — jumps over the lazy dog, and says "hello".\n'.repeat(64);
  const size = Math.floor(characters / turns);
  return Array.from({ length: turns }, (_, turn) => ({
    role: turn % 2 === 0 ? 'user' : 'assistant',
    content: `${turn}: ${text.repeat(Math.ceil(size / text.length)).slice(0, size)}`,
  }));
}

export const ONE_TURN: Conversation = { name: '1 turn', messages: conversation(1, 60) };
export const FIVE_TURNS: Conversation = { name: '5 turns', messages: conversation(5, 1000) };
export const MANY_TURNS: Conversation = {
  name: '200 turns, 160 kB',
  messages: conversation(200, 160_000),
};
