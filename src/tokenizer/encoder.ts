/** Turns prompts into token ids and back. One instance belongs to one worker: it keeps scratch buffers and caches. */
export interface Encoder {
  /** Ids the model knows are 0 .. vocabularySize - 1; nothing outside that range is ever returned. */
  readonly vocabularySize: number;

  /**
   * Encodes the concatenation of `pieces`, without building it where the encoder can avoid that.
   * A piece boundary never changes the ids. Pieces hold no lone surrogates: requests with one are refused earlier.
   * `addSpecialTokens` adds what the model's post-processor adds around a text.
   */
  encode(pieces: readonly string[], addSpecialTokens: boolean): Uint32Array;

  /** Text of `ids`; an id outside the vocabulary is a RangeError. `skipSpecialTokens` drops special added tokens. */
  decode(ids: Uint32Array, skipSpecialTokens: boolean): string;
}
