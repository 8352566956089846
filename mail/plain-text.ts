import { convert } from 'html-to-text'

/** Converts an HTML email to its plain-text part. */
export function toPlainText(html: string): string {
  return `${convert(html, {
    wordwrap: 78,
    // More than any email needs, and less than the stack allows.
    limits: { maxInputLength: 2_000_000, maxDepth: 500 },
    selectors: [
      { selector: 'a', options: { hideLinkHrefIfSameAsText: true, linkBrackets: ['<', '>'] } },
      { selector: 'img', format: 'skip' },
      ...['h1', 'h2', 'h3'].map((selector) => ({ selector, options: { uppercase: false } })),
    ],
  })}\n`
}
