import type { Chapter, GuidePage } from './pages.ts'

/** A page of the guide with the way to all others. */
export function layout(page: GuidePage, content: string, chapters: readonly Chapter[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(page.title)} · Postern</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/dev/dev.css">
<link rel="stylesheet" href="/dev/guide.css">
<script src="/dev/guide.js" type="module"></script>
</head>
<body>
<header class="bar">
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
</div>
</body>
</html>
`
}

function chapterOf({ title, pages }: Chapter, current: GuidePage): string {
  const entries = pages.map((page) => {
    const mark = page === current ? ' aria-current="page"' : ''
    return `<li><a href="${page.url}"${mark}>${escaped(page.title)}</a></li>`
  })
  return `<p>${escaped(title)}</p>\n<ul>\n${entries.join('\n')}\n</ul>`
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
