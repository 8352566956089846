/**
 * `npm run docs:build [FOLDER]`: builds the documentation into static files from the repository's Markdown, published
 * under /docs/guide. `npm run dev` builds them at its start.
 */
import { existsSync } from 'node:fs'
import { copyFile, cp, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

import { base, type Chapter, type GuidePage, inChapters, readPages } from './pages.ts'

const root = join(import.meta.dirname, '../..')

/** The folder that `npm run dev` serves. */
const builtDocs = join(root, 'docs/dist')

/** False in the npm package, which has the built files only. */
export const hasDocs = existsSync(join(root, 'docs/index.md'))

/** Writes a folder with index.html for each page, the search index, styles, scripts and images. */
export async function buildDocs(to = builtDocs): Promise<void> {
  const pages = readPages()
  const render = await createRender(pages)
  const chapters = inChapters(pages)
  for (const page of pages) {
    const file = join(to, page.url.slice(base.length), 'index.html')
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, layout(page, render(page), chapters))
  }
  await writeFile(join(to, 'search.json'), JSON.stringify(pages.flatMap(readSections)))
  // In place: another server that starts may be reading it.
  await copyFile(fileURLToPath(import.meta.resolve('minisearch')), join(to, 'minisearch.js'))
  await cp(join(root, 'docs/images'), join(to, 'images'), { recursive: true })
  for (const name of ['dev.css', 'guide.css', 'guide.js']) {
    await cp(join(root, 'routes/dev/assets', name), join(to, 'assets', name))
  }
}

// Not awaited: tests require this module, which forbids a top-level await.
if (import.meta.main) void buildDocs(process.argv[2])

/** A page of the documentation with links to all others. */
function layout(page: GuidePage, content: string, chapters: readonly Chapter[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(page.title)} · Postern</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${base}/assets/dev.css">
<link rel="stylesheet" href="${base}/assets/guide.css">
<script src="${base}/assets/guide.js" type="module"></script>
</head>
<body>
<header class="bar">
<a class="home" href="${base}">Postern</a>
<b>Guide</b>
<span class="grow"></span>
<form role="search" id="search">
<input type="search" name="words" placeholder="Search" aria-label="Search the guide" autocomplete="off" spellcheck="false">
</form>
</header>
<div class="guide">
<nav class="pages" aria-label="Guide"><details><summary>Contents</summary>
${chapters.map((chapter) => renderChapter(chapter, page)).join('\n')}
</details></nav>
<main>
<section id="found" aria-label="Found" aria-live="polite" hidden></section>
${renderContents(content)}
<article>
${content}
</article>
</main>
</div>
</body>
</html>
`
}

/** Empty for a short page. */
function renderContents(content: string): string {
  const headings = readHeadings(content)
  if (headings.length < 3) return ''
  const entries = headings.map(({ id, content }) => `<li><a href="#${id}">${content}</a></li>`)
  return `<nav class="here" aria-label="On this page"><details><summary>On this page</summary>
<ul>
${entries.join('\n')}
</ul></details></nav>`
}

function renderChapter({ title, pages }: Chapter, current: GuidePage): string {
  const entries = pages.map((page) => {
    const mark = page === current ? ' aria-current="page"' : ''
    return `<li><a href="${page.url}"${mark}>${escaped(page.title)}</a></li>`
  })
  return `<p>${escaped(title)}</p>\n<ul>\n${entries.join('\n')}\n</ul>`
}

interface DocsSection {
  id: string
  url: string
  page: string
  title: string
  text: string
}

type Render = (page: GuidePage) => string

/** Renders Markdown to HTML and converts links between files to links between pages. Uses a development dependency. */
async function createRender(pages: readonly GuidePage[]): Promise<Render> {
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
function readHeadings(html: string): { id: string; content: string }[] {
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
function readSections(page: GuidePage): DocsSection[] {
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

/** Escapes text for HTML, attribute values included. */
function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
