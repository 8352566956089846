/** Style rules that the linter does not check. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { type Source, sources } from './sources.ts'

const max = 200
/** An entry a line. */
const lists = ['schemas/errors.ts']

const deps = sources([
  '{bench,cli,config,db,dev,mail,modules,plugins,providers,routes,schemas,scripts,server,sms}/**/*.ts',
  'console/**/*.{ts,tsx}',
  '*.ts',
])
const everything = [...deps, ...sources(['test/**/*.ts'])]

suite('source style', () => {
  test(`limits source files to ${max} lines`, () => {
    const long = deps.filter(({ path, text }) => !lists.includes(path) && lines(text) > max)
    assert.deepEqual(long.map(named), [])
  })

  test('reads the environment in entry points only', () => {
    const starters = /^(server|cli)\.ts$|^(cli|server|dev|bench|scripts)\//
    const readers = deps.filter(
      ({ path, text }) => !starters.test(path) && code(text).includes('process.env'),
    )
    assert.deepEqual(readers.map(named), [])
  })

  const forbidden: [string, RegExp][] = [
    ['any', /(:|<|\bas) *any\b/],
    ['a cast through unknown', /\bas unknown as\b/],
    ['@ts-ignore', /@ts-(ignore|expect-error|nocheck)/],
    ['a silenced linter', /biome-ignore/],
    ['a TODO comment', /\b(TODO|FIXME|XXX)\b/],
    [
      'a statement below its condition without braces',
      /^( *)(\} else )?(if|for|while) \(.*\)\n\1 +\S/m,
    ],
    ['an enum', /^\s*(export )?(const )?enum \w/m],
    ['a debugger', /^\s*debugger\b/m],
    ['a skipped or focused test', /\b(test|suite)\.(only|skip|todo)\(/],
  ]
  for (const [what, pattern] of forbidden) {
    test(`rejects ${what}`, () => {
      const found = everything.filter(
        ({ path, text }) => path !== 'test/architecture/style.test.ts' && pattern.test(code(text)),
      )
      assert.deepEqual(found.map(named), [])
    })
  }

  test('places file comments directly above the imports', () => {
    const apart = everything.filter(({ text }) =>
      /^(#!.*\n)?\/\*\*[\s\S]*?\*\/\n\nimport /.test(text),
    )
    assert.deepEqual(apart.map(named), [])
  })

  test('rejects file names like helpers and utils', () => {
    const names = everything.filter(({ path }) =>
      /(^|\/)(helpers?|utils?|misc|common)\.tsx?$/.test(path),
    )
    assert.deepEqual(names.map(named), [])
  })

  test('requires file names in kebab-case', () => {
    const wrong = everything.filter(({ path }) => !/^[a-z0-9./-]+$/.test(path))
    assert.deepEqual(wrong.map(named), [])
  })
})

/** Without string contents and, except for TODO checks, without comments. */
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
