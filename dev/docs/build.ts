/**
 * `npm run docs:build [FOLDER]`: builds the documentation into static files from the repository's Markdown, published
 * under /docs/guide. `npm run dev` builds them at its start.
 */
import { existsSync } from 'node:fs'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { layout } from './layout.ts'
import { base, inChapters, readPages } from './pages.ts'
import { createRender, readSections } from './render.ts'

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
  await cp(fileURLToPath(import.meta.resolve('minisearch')), join(to, 'minisearch.js'))
  await cp(join(root, 'docs/images'), join(to, 'images'), { recursive: true })
  for (const name of ['dev.css', 'guide.css', 'guide.js']) {
    await cp(join(root, 'routes/dev/assets', name), join(to, 'assets', name))
  }
}

// Not awaited: tests require this module, which forbids a top-level await.
if (import.meta.main) void buildDocs(process.argv[2])
