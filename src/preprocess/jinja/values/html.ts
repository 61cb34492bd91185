const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  "'": '&#39;',
  '"': '&#34;',
};

/** As markupsafe escapes it. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>'"]/g, (character) => ESCAPES[character] as string);
}
