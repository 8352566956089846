/** Links between the pages of the documentation have existing targets. */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite, test } from 'node:test'

const root = join(import.meta.dirname, '../..')
const pages = ['README.md', 'CHANGELOG.md', ...globSync('docs/**/*.md', { cwd: root })]

suite('documentation links', () => {
  for (const page of pages) {
    test(`links of ${page} lead to existing files and headings`, () => {
      const broken = readLinks(page).filter((link) => !leadsSomewhere(page, link))
      assert.deepEqual(broken, [])
    })
  }

  test('the README links the documentation', () => {
    assert.ok(readLinks('README.md').includes('docs/configuration.md'))
  })
})

/** Those within the repository. */
function readLinks(page: string): string[] {
  const links = [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
  return links.filter((link) => !/^[a-z]+:/.test(link))
}

function leadsSomewhere(page: string, link: string): boolean {
  const [path = '', heading] = link.split('#')
  const target = path === '' ? page : join(dirname(page), path)
  if (!existsSync(join(root, target))) return false
  return heading === undefined || readAnchors(target).includes(heading)
}

/** As GitHub creates them. */
function readAnchors(page: string): string[] {
  const headings = [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading)
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  )
}

function read(page: string): string {
  return readFileSync(join(root, page), 'utf8')
}
