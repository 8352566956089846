/** Converts a message of a language into template source. */
import type { LocalizedMessages, Paragraph } from '../languages/language.ts'

/** Messages are plain text: HTML characters are escaped, template actions are kept. */
export function inHtml(sentence: string): string {
  return outsideActions(sentence, (text) =>
    text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`),
  )
}

/**
 * One template for all plural categories. In a right-to-left language each value is isolated (Unicode UAX 9, FSI and
 * PDI), so that the order of an address and of the text around it is kept.
 */
export function formatMessage(
  paragraph: Paragraph,
  { direction }: Pick<LocalizedMessages, 'direction'>,
): string {
  const source = typeof paragraph === 'string' ? paragraph : branches(paragraph)
  return direction === 'ltr' ? source : source.replace(outputs, '\u2068$&\u2069')
}

/** Actions that output a value, with the plus sign of a phone number. */
const outputs = /\+?\{\{ (?:\.|or )[^}]*\}\}/g

function branches({ count, other, ...categories }: Exclude<Paragraph, string>): string {
  const conditions = Object.entries(categories).map(([category, text]) => {
    const [of, value] = category.startsWith('=') ? ['', category.slice(1)] : ['.Plural', category]
    return `if eq ${of}.${count} "${value}" }}${text}`
  })
  // An exact number takes precedence over its plural category.
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
