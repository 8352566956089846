/** What no lint rule rejects. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { type Source, sources } from './sources.ts'

const product = sources([
  '{bench,cli,config,console,db,dev,mail,modules,plugins,providers,routes,schemas,scripts,server,sms,ui}/**/*.{ts,tsx}',
  '*.ts',
])
const everything = [...product, ...sources(['test/**/*.ts'])]

suite('source style', () => {
  test('builds the paths of the pages’ API calls in one file', () => {
    // A value in a path may name another path: modules/pages/api.ts validates each.
    const callers = product.filter(({ path }) => /^(modules|routes)\/(pages|account)\//.test(path))
    const texts = callers.filter(({ text }) => /\b(url|path)(:| =) `\/|\.inject\(/.test(text))
    assert.deepEqual(texts.map(named), ['modules/pages/api.ts'])
  })

  test('spells organization with a z in English', () => {
    const texts = sources(['*.md', '{docs,examples}/**/*.{md,ts,js,html}', '{mail,ui}/**/en.json'])
    const found = [...everything, ...texts].filter(({ text }) => /organi[s]/i.test(text))
    assert.deepEqual(found.map(named), [])
  })

  const forbidden: [string, RegExp][] = [
    ['a cast through unknown', /\bas unknown as\b/],
    ['a silenced type checker', /@ts-(ignore|expect-error|nocheck)/],
    ['a silenced linter', /biome-ignore/],
    ['a TODO comment', /\b(TODO|FIXME|XXX)\b/],
    ['a file comment apart from the imports', /^(#!.*\n)?\/\*\*((?!\*\/)[\s\S])*\*\/\n\nimport /],
  ]
  for (const [what, pattern] of forbidden) {
    test(`no file contains ${what}`, () => {
      const found = everything.filter(
        ({ path, text }) => path !== 'test/architecture/style.test.ts' && pattern.test(code(text)),
      )
      assert.deepEqual(found.map(named), [])
    })
  }
})

/** Without the contents of strings. */
const code = (text: string) => text.replace(/'(?:[^'\\\n]|\\.)*'/g, "''")

const named = ({ path }: Source) => path
