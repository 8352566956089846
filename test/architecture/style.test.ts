/** What the linter does not see. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { type Source, sources } from './sources.ts'

const longest = 200
/** An entry a line. */
const lists = ['errors.ts']

const house = sources([
  '{bench,cli,db,mail,plugins,providers,routes,schemas,scripts,sms}/**/*.ts',
  '*.ts',
])
const everything = [...house, ...sources(['test/**/*.ts'])]

suite('style', () => {
  test(`no source file is longer than ${longest} lines`, () => {
    const long = house.filter(({ path, text }) => !lists.includes(path) && lines(text) > longest)
    assert.deepEqual(long.map(named), [])
  })

  test('only the starters read the environment', () => {
    const starters = /^(server|cli)\.ts$|^(cli|bench|scripts)\//
    const readers = house.filter(
      ({ path, text }) => !starters.test(path) && code(text).includes('process.env'),
    )
    assert.deepEqual(readers.map(named), [])
  })

  const forbidden: [string, RegExp][] = [
    ['any', /(:|<|\bas) *any\b/],
    ['a cast through unknown', /\bas unknown as\b/],
    ['@ts-ignore', /@ts-(ignore|expect-error|nocheck)/],
    ['a silenced linter', /biome-ignore/],
    ['a note for later', /\b(TODO|FIXME|XXX)\b/],
    [
      'a statement on a line of its own, below its condition and without braces',
      /^( *)(\} else )?(if|for|while) \(.*\)\n\1 +\S/m,
    ],
    ['an enum', /^\s*(export )?(const )?enum \w/m],
    ['a debugger', /^\s*debugger\b/m],
    ['a test that is left out', /\b(test|suite)\.(only|skip|todo)\(/],
  ]
  for (const [what, pattern] of forbidden) {
    test(`nowhere is ${what}`, () => {
      const found = everything.filter(
        ({ path, text }) => path !== 'test/architecture/style.test.ts' && pattern.test(code(text)),
      )
      assert.deepEqual(found.map(named), [])
    })
  }

  test('a comment on a whole file stands right above its imports', () => {
    const apart = everything.filter(({ text }) =>
      /^(#!.*\n)?\/\*\*[\s\S]*?\*\/\n\nimport /.test(text),
    )
    assert.deepEqual(apart.map(named), [])
  })

  test('there is no file for whatever fits nowhere', () => {
    const names = everything.filter(({ path }) =>
      /(^|\/)(helpers?|utils?|misc|common)\.ts$/.test(path),
    )
    assert.deepEqual(names.map(named), [])
  })

  test('file names are in kebab-case', () => {
    const wrong = everything.filter(({ path }) => !/^[a-z0-9./-]+$/.test(path))
    assert.deepEqual(wrong.map(named), [])
  })
})

/** Without what stands in quotes and, but for notes, without comments: there everything is allowed. */
function code(text: string): string {
  return text
    .replace(/'(?:[^'\\\n]|\\.)*'/g, "''")
    .replace(/^\s*(\/\*\*|\*|\/\/)(?!.*(TODO|FIXME|XXX|@ts-|biome-ignore)).*$/gm, '')
}

function lines(text: string): number {
  return text.split('\n').length - 1
}

function named({ path }: Source): string {
  return path
}
