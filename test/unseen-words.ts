/** Words that no cache has seen, and that take an encoder some 100 ms for each megabyte. The same for the same seed. */
export function unseenWords(bytes: number, seed = 1): string {
  let state = seed;
  let text = '';
  while (text.length < bytes) {
    for (let letters = 0; letters < 9; letters++) {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0;
      text += String.fromCharCode(0x61 + ((state >>> 16) % 26));
    }
    text += ' ';
  }
  return text;
}
