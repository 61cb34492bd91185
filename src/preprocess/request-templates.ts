import { fail, type Outcome } from '../protocol/status.ts';
import { type ChatTemplate, openTemplate } from './template.ts';

/** Characters of a template that a request brings; those of public models have at most some twenty thousand. */
const MAXIMUM_SIZE = 1 << 17;
/** Templates that are kept, and the characters of all of them. */
const KEPT = { count: 16, characters: 1 << 18 };

/**
 * Templates that requests bring, for models whose operator lets them. The last few are kept compiled, and a worker's memory
 * stays bounded whatever requests bring; what their renders may take is bounded as for every template.
 */
export class RequestTemplates {
  /** By source, the least recently used first. */
  readonly #kept = new Map<string, Outcome<ChatTemplate>>();
  #characters = 0;

  /** The compiled template. One that is too long is INVALID_REQUEST, one that cannot be compiled UNSUPPORTED. */
  open(source: string): Outcome<ChatTemplate> {
    if (source.length > MAXIMUM_SIZE) {
      return fail('INVALID_REQUEST', `chat_template has more than ${MAXIMUM_SIZE} characters`);
    }
    const known = this.#kept.get(source);
    const template = known ?? openTemplate(source, 'the chat_template of the request');
    if (known !== undefined) this.#kept.delete(source);
    else this.#characters += source.length;
    this.#kept.set(source, template);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= KEPT.count && this.#characters <= KEPT.characters) break;
      this.#kept.delete(oldest);
      this.#characters -= oldest.length;
    }
    return template;
  }

  get size(): number {
    return this.#kept.size;
  }
}
