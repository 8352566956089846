/** Renders Markdown to HTML and converts links between files to links between pages. Uses a development dependency. */
import { posix } from 'node:path'

import { escaped } from './escaped.ts'
import { base, type GuidePage } from './pages.ts'

interface DocsSection {
  id: string
  url: string
  page: string
  title: string
  text: string
}

type Render = (page: GuidePage) => string

export async function createRender(pages: readonly GuidePage[]): Promise<Render> {
  const { Marked } = await import('marked')
  return (page) => {
    const marked = new Marked()
    marked.use({
      renderer: {
        heading({ tokens, depth, text }) {
          const content = this.parser.parseInline(tokens)
          return `<h${depth} id="${toAnchor(text)}">${content}</h${depth}>\n`
        },
        checkbox({ checked }) {
          // A symbol instead of a checkbox, which would need a label.
          return checked ? '☑ ' : '☐ '
        },
        codespan({ text }) {
          // Allows line breaks in long names and lists, so that table columns stay visible.
          return `<code>${escaped(text).replaceAll(/[_,](?=\S)/g, '$&<wbr>')}</code>`
        },
        link({ href, tokens }) {
          const content = this.parser.parseInline(tokens)
          const target = resolveTarget(href, page, pages)
          return target === undefined ? content : `<a href="${escaped(target)}">${content}</a>`
        },
        image({ href, text }) {
          const name = posix.basename(href)
          return `<img src="${base}/images/${escaped(name)}" alt="${escaped(text)}">`
        },
      },
    })
    const html = marked.parse(page.text, { async: false })
    return inFrames(html)
  }
}

/** Wide content scrolls separately, and is reachable with the keyboard. */
function inFrames(html: string): string {
  return html
    .replaceAll(
      '<table>',
      '<div class="wide" tabindex="0" role="region" aria-label="Table"><table>',
    )
    .replaceAll('</table>', '</table></div>')
    .replaceAll('<pre>', '<div class="block"><pre tabindex="0">')
    .replaceAll('</pre>', '</pre></div>')
}

/** The headings of a page that its contents list: address within the page, and the heading's HTML. */
export function readHeadings(html: string): { id: string; content: string }[] {
  const found = html.matchAll(/<h2 id="([^"]+)">(.*?)<\/h2>/g)
  return [...found].map(([, id = '', content = '']) => ({
    id,
    content: content.replaceAll(/<\/?a\b[^>]*>/g, ''),
  }))
}

/** The target of a link; undefined for files of the repository outside the guide. */
function resolveTarget(
  href: string,
  from: GuidePage,
  pages: readonly GuidePage[],
): string | undefined {
  if (/^[a-z]+:/.test(href) || href.startsWith('#')) return href
  const [path = '', heading] = href.split('#')
  const file = posix.normalize(posix.join(posix.dirname(from.file), path)).replace(/\/$/, '')
  if (file === 'docs/openapi.json') return '/docs'
  const page = pages.find((each) => each.file === file || each.file === `${file}/README.md`)
  if (page === undefined) return undefined
  return heading === undefined ? page.url : `${page.url}#${heading}`
}

/** The anchor of a heading, as GitHub creates it. */
function toAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-')
}

/** Each heading with the text below it, for the search. */
export function readSections(page: GuidePage): DocsSection[] {
  return withoutCodeComments(page.text)
    .split(/^(?=#{1,4} )/m)
    .flatMap((part, index) => {
      const [first = '', ...rest] = part.split('\n')
      const title = first.replace(/^#+ /, '').replaceAll('`', '')
      const text = plain(rest.join('\n'))
      if (title === '' && text.trim() === '') return []
      const anchor = index <= 1 ? '' : `#${toAnchor(title)}`
      const url = `${page.url}${anchor}`
      return [{ id: `${page.file} ${index}`, url, page: page.title, title, text }]
    })
}

/** A comment in a code block looks like a heading. */
function withoutCodeComments(markdown: string): string {
  return markdown.replaceAll(/^```.*?^```$/gms, (code) => code.replaceAll(/^#+ /gm, ''))
}

/** Removes Markdown syntax, for the lines that the search shows. */
function plain(markdown: string): string {
  return markdown
    .replaceAll(/^```.*$|^\|[-:| ]+\|$|^- |<br>|\|/gm, ' ')
    .replaceAll(/\]\([^)\s]+\)|[`*#[\]]/g, '')
    .replaceAll(/\s+/g, ' ')
}
