/** Lists as text area content: one item per line. */
export const toLines = (items: readonly string[] | undefined): string => (items ?? []).join('\n')

export function fromLines(text: string | undefined): string[] {
  return (text ?? '').split(/\s+/).filter((line) => line !== '')
}
