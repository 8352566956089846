/** From Markdown to HTML, with links between files as links between pages. Its package is for development. */
import { posix } from 'node:path'

import { escaped } from '../../../plugins/pages/markup.ts'
import type { GuidePage } from './pages.ts'

export interface Section {
  id: string
  url: string
  page: string
  title: string
  text: string
}

export type Render = (page: GuidePage) => string

export async function createRender(pages: readonly GuidePage[]): Promise<Render> {
  const { Marked } = await import('marked')
  return (page) => {
    const marked = new Marked()
    marked.use({
      renderer: {
        heading({ tokens, depth, text }) {
          const content = this.parser.parseInline(tokens)
          return `<h${depth} id="${anchorOf(text)}">${content}</h${depth}>\n`
        },
        codespan({ text }) {
          // A long name or list breaks between its words before the column beside it is cut off.
          return `<code>${escaped(text).replaceAll(/[_,](?=\S)/g, '$&<wbr>')}</code>`
        },
        link({ href, tokens }) {
          const content = this.parser.parseInline(tokens)
          const target = targetOf(href, page, pages)
          return target === undefined ? content : `<a href="${escaped(target)}">${content}</a>`
        },
        image({ href, text }) {
          const name = posix.basename(href)
          return `<img src="/docs/guide/images/${escaped(name)}" alt="${escaped(text)}">`
        },
      },
    })
    const html = marked.parse(page.text, { async: false })
    return inFrames(html)
  }
}

/** What is wider than a phone scrolls by itself, and can be reached with the keyboard. */
function inFrames(html: string): string {
  return html
    .replaceAll(
      '<table>',
      '<div class="wide" tabindex="0" role="region" aria-label="Table"><table>',
    )
    .replaceAll('</table>', '</table></div>')
    .replaceAll('<pre>', '<pre tabindex="0">')
}

/** Where a link of a page leads; undefined for what is in the repository and not in the guide. */
function targetOf(href: string, from: GuidePage, pages: readonly GuidePage[]): string | undefined {
  if (/^[a-z]+:/.test(href) || href.startsWith('#')) return href
  const [path = '', heading] = href.split('#')
  const file = posix.normalize(posix.join(posix.dirname(from.file), path)).replace(/\/$/, '')
  if (file === 'docs/openapi.json') return '/docs'
  const page = pages.find((each) => each.file === file || each.file === `${file}/README.md`)
  if (page === undefined) return undefined
  return heading === undefined ? page.url : `${page.url}#${heading}`
}

/** A heading's name in an address, as GitHub makes it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-')
}

/** Each heading with the text below it, for the search. */
export function sectionsOf(page: GuidePage): Section[] {
  return withoutCodeComments(page.text)
    .split(/^(?=#{1,4} )/m)
    .flatMap((part, index) => {
      const [first = '', ...rest] = part.split('\n')
      const title = first.replace(/^#+ /, '').replaceAll('`', '')
      const text = plain(rest.join('\n'))
      if (title === '' && text.trim() === '') return []
      const anchor = index <= 1 ? '' : `#${anchorOf(title)}`
      const url = `${page.url}${anchor}`
      return [{ id: `${page.file} ${index}`, url, page: page.title, title, text }]
    })
}

/** A comment in a block of code begins as a heading does, and is none. */
function withoutCodeComments(markdown: string): string {
  return markdown.replaceAll(/^```.*?^```$/gms, (code) => code.replaceAll(/^#+ /gm, ''))
}

/** Without the signs of Markdown, for the lines that a search shows. */
function plain(markdown: string): string {
  return markdown
    .replaceAll(/^```.*$|^\|[-:| ]+\|$|^- |<br>|\|/gm, ' ')
    .replaceAll(/\]\([^)\s]+\)|[`*#[\]]/g, '')
    .replaceAll(/\s+/g, ' ')
}
