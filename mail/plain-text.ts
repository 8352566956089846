import { convert } from 'html-to-text'

/** The plain-text part for a mail of which only the HTML is known. */
export function plainTextOf(html: string): string {
  return `${convert(html, {
    wordwrap: 78,
    // Deeper than any mail is, and not deep enough to overflow the stack.
    limits: { maxInputLength: 2_000_000, maxDepth: 500 },
    selectors: [
      { selector: 'a', options: { hideLinkHrefIfSameAsText: true, linkBrackets: ['<', '>'] } },
      { selector: 'img', format: 'skip' },
      ...['h1', 'h2', 'h3'].map((selector) => ({ selector, options: { uppercase: false } })),
    ],
  })}\n`
}
