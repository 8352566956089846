import { escaped } from './escaped.ts'
import { base, type Chapter, type GuidePage } from './pages.ts'
import { readHeadings } from './render.ts'

/** A page of the documentation with links to all others. */
export function layout(page: GuidePage, content: string, chapters: readonly Chapter[]): string {
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
