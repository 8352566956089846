import { devPage, escaped } from '../../../plugins/pages/markup.ts'
import type { Chapter, GuidePage } from './pages.ts'

/** A page of the guide with the way to all others. */
export function layout(page: GuidePage, content: string, chapters: readonly Chapter[]): string {
  return devPage({
    title: page.title,
    head: `<link rel="stylesheet" href="/dev/guide.css">
<script src="/dev/guide.js" type="module"></script>`,
    body: `<header class="bar">
<a class="home" href="/dev">Postern</a>
<b>Guide</b>
<span class="grow"></span>
<form role="search" id="search">
<input type="search" name="words" placeholder="Search" aria-label="Search the guide" autocomplete="off" spellcheck="false">
</form>
</header>
<div class="guide">
<nav aria-label="Guide"><details><summary>Contents</summary>
${chapters.map((chapter) => chapterOf(chapter, page)).join('\n')}
</details></nav>
<main>
<section id="found" aria-label="Found" aria-live="polite" hidden></section>
<article>
${content}
</article>
</main>
</div>`,
  })
}

function chapterOf({ title, pages }: Chapter, current: GuidePage): string {
  const entries = pages.map((page) => {
    const mark = page === current ? ' aria-current="page"' : ''
    return `<li><a href="${page.url}"${mark}>${escaped(page.title)}</a></li>`
  })
  return `<p>${escaped(title)}</p>\n<ul>\n${entries.join('\n')}\n</ul>`
}
