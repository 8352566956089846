/** From a sentence of a language to template source, for the place it stands in. */
import type { Paragraph, Speech } from '../languages/language.ts'

/** Sentences are plain text: what HTML would read as its own is escaped, the template's actions are kept. */
export function inHtml(sentence: string): string {
  return outsideActions(sentence, (text) =>
    text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`),
  )
}

/**
 * One template for all categories of a plural. In a language that runs from right to left each value is isolated
 * (Unicode UAX 9, FSI and PDI), so that an address keeps its order and its neighbours theirs.
 */
export function sentenceOf(paragraph: Paragraph, { direction }: Pick<Speech, 'direction'>): string {
  const source = typeof paragraph === 'string' ? paragraph : branches(paragraph)
  return direction === 'ltr' ? source : source.replace(outputs, '\u2068$&\u2069')
}

/** Actions that write a value, with the plus sign of a phone number. */
const outputs = /\+?\{\{ (?:\.|or )[^}]*\}\}/g

function branches({ count, other, ...categories }: Exclude<Paragraph, string>): string {
  const conditions = Object.entries(categories).map(([category, text]) => {
    const [of, value] = category.startsWith('=') ? ['', category.slice(1)] : ['.Plural', category]
    return `if eq ${of}.${count} "${value}" }}${text}`
  })
  // An exact number comes before the category that it belongs to.
  const exactFirst = conditions.toSorted(
    (a, b) => Number(a.includes('.Plural')) - Number(b.includes('.Plural')),
  )
  if (exactFirst.length === 0) return other
  return `{{ ${exactFirst.join('{{ else ')}{{ else }}${other}{{ end }}`
}

function outsideActions(sentence: string, change: (text: string) => string): string {
  return sentence
    .split(/(\{\{.*?\}\})/s)
    .map((part, at) => (at % 2 === 0 ? change(part) : part))
    .join('')
}
