/** The documentation site: each file is a page, and each link has a target. */
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { before, suite, test } from 'node:test'

import { buildDocs } from '../../../dev/docs/build.ts'
import { endingOfSuite } from '../../support/processes/ending.ts'
import { type App, build } from '../../support/server.ts'

const root = join(import.meta.dirname, '../../..')

suite('documentation site', () => {
  let app: App
  const ending = endingOfSuite()
  before(async () => {
    await buildDocs()
    app = (await build(ending, { dev: true })).app
  })

  test('has a page for each file, listed in the contents', async () => {
    const { body } = await app.inject('/docs/guide')
    const listed = [...body.matchAll(/<li><a href="(\/docs\/guide[^"#]*)"/g)].map(([, url]) => url)
    const files = globSync(['*.md', 'docs/**/*.md', 'examples/**/*.md'], { cwd: root })
    assert.equal(new Set(listed).size, files.length)
    assert.ok(listed.includes('/docs/guide/decisions/2026-11-22-events'))
    assert.match(body, /<a href="\/docs\/guide\/examples\/web">example page<\/a>/)
  })

  test('breaks long names at underscores', async () => {
    const { body } = await app.inject('/docs/guide/configuration')
    assert.match(body, /<code>AUTH_<wbr>API_<wbr>EXTERNAL_<wbr>URL<\/code>/)
    const pasted = (await app.inject('/docs/guide/getting-started')).body
    assert.match(pasted, /<pre[^>]*><code[^>]*>[^<]*\ncurl -s -o \/dev\/null/)
  })

  test('has no broken link', async () => {
    const pages = new Map<string, string>()
    const queue = ['/docs/guide']
    const broken: string[] = []
    for (let url = queue.shift(); url !== undefined; url = queue.shift()) {
      const { statusCode, body } = await app.inject(url)
      assert.equal(statusCode, 200, url)
      pages.set(url, body)
      for (const target of readLinks(body, url)) {
        const [path = ''] = target.split('#')
        if (!pages.has(path) && !queue.includes(path)) queue.push(path)
      }
    }
    for (const [url, body] of pages) {
      for (const target of readLinks(body, url)) {
        const [path = '', heading] = target.split('#')
        const isThere = heading === undefined || pages.get(path)?.includes(`id="${heading}"`)
        if (!isThere) broken.push(`${url}: ${target}`)
      }
    }
    assert.deepEqual(broken, [])
    assert.ok(pages.size > 30)
  })

  test('loads nothing from other origins and contains no inline script', async () => {
    const { body, headers } = await app.inject('/docs/guide/getting-started')
    const loaded = [...body.matchAll(/<(?:script|link|img)[^>]*(?:src|href)="([^"]+)"/g)]
    for (const [, url = ''] of loaded) assert.match(url, /^(\/|data:)/)
    assert.doesNotMatch(body, /<script>/)
    assert.match(String(headers['content-security-policy']), /script-src 'self'/)
  })

  test('indexes each section with its anchor for the search', async () => {
    const sections: { url: string; title: string; text: string }[] = (
      await app.inject('/docs/guide/search.json')
    ).json()
    const found = sections.find(({ title }) => title === 'Files')
    assert.equal(found?.url, '/docs/guide/getting-started#files')
    assert.match(found?.text ?? '', /\.data\/postgres/)
    assert.equal((await app.inject('/docs/guide/minisearch.js')).statusCode, 200)
    for (const name of ['dev.css', 'guide.css', 'guide.js']) {
      assert.equal((await app.inject(`/docs/guide/assets/${name}`)).statusCode, 200, name)
    }
  })

  test('indexes headings only, not comments in code blocks', async () => {
    const sections: { url: string; text: string }[] = (
      await app.inject('/docs/guide/search.json')
    ).json()
    const bodies = new Map<string, string>()
    for (const path of new Set(sections.map(({ url }) => url.split('#')[0] ?? ''))) {
      bodies.set(path, (await app.inject(path)).body)
    }
    const lost = sections.filter(({ url }) => {
      const [path = '', heading] = url.split('#')
      return heading !== undefined && !bodies.get(path)?.includes(` id="${heading}"`)
    })
    assert.deepEqual(
      lost.map(({ url }) => url),
      [],
    )
    assert.ok(sections.some(({ text }) => text.includes('The proxy is on this machine')))
  })

  for (const url of [
    '/docs/guide/nowhere',
    '/docs/guide/../../package.json',
    '/docs/guide/..%2f..%2fpackage',
    '/docs/guide/images/..%2f..%2fpackage.json',
    '/docs/guide/images/none.png',
  ]) {
    test(`returns 404 for ${url}`, async () => {
      assert.equal((await app.inject({ url })).statusCode, 404)
    })
  }

  test('returns 404 outside development', async (t) => {
    const { app } = await build(t)
    assert.equal((await app.inject('/docs/guide')).statusCode, 404)
  })
})

/** Those within the guide, as absolute paths. */
function readLinks(body: string, url: string): string[] {
  const links = [...body.matchAll(/<a href="([^"]+)"/g)].map(([, link = '']) => link)
  const absolute = links.map((link) => (link.startsWith('#') ? url + link : link))
  return absolute.filter((link) => link.startsWith('/docs/guide'))
}
