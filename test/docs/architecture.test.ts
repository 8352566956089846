/** docs/architecture.md describes the folders that exist. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8')
const layout = /## Layout\n\n```\n(.*?)```/s.exec(page)?.[1] ?? ''

suite('docs/architecture.md', () => {
  for (const folder of ['modules', 'routes', 'plugins']) {
    test(`lists every folder of ${folder}/ in its layout`, () => {
      assert.deepEqual(
        listFolders(folder).filter((name) => !words(layout).includes(name)),
        [],
      )
    })
  }

  test('names only files and folders that exist', () => {
    const tops = new Set(listFolders('.'))
    const paths = [...page.matchAll(/`([\w./-]+)`/g)].map(([, path = '']) => path)
    const named = paths.filter((path) => path.includes('/') && tops.has(path.split('/')[0] ?? ''))
    assert.ok(named.length > 50)
    assert.deepEqual(
      named.filter((path) => !existsSync(join(root, path))),
      [],
    )
  })
})

function listFolders(folder: string): string[] {
  const entries = readdirSync(join(root, folder), { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}

/** `well-known/` and `web3,` as `well-known` and `web3`. */
const words = (text: string): string[] => text.split(/[\s,;:/]+/)
