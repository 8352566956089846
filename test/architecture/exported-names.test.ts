/** An exported name is unique, so that a search finds one declaration. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { sources } from './sources.ts'

/** What each file of a kind exports: commands, and migrations. */
const shared = ['run', 'usage', 'up']

const declaration =
  /^export (?:async )?(?:function\*?|const|(?:abstract )?class|interface|type|enum) (\w+)/gm

suite('exported names of the product', () => {
  test('are declared in one file each', () => {
    const code = sources([
      '{cli,config,console,db,mail,modules,plugins,providers,routes,schemas,server,sms,ui}/**/*.{ts,tsx}',
      '*.ts',
    ])
    const files = new Map<string, Set<string>>()
    for (const { path, text } of code) {
      for (const [, name = ''] of text.matchAll(declaration)) {
        files.set(name, (files.get(name) ?? new Set()).add(path))
      }
    }
    const several = [...files].filter(([name, { size }]) => size > 1 && !shared.includes(name))
    assert.deepEqual(Object.fromEntries(several.map(([name, paths]) => [name, [...paths]])), {})
  })
})

/** Names of JavaScript and JSON Schema. */
const foreign = [
  'indexOf',
  'lastIndexOf',
  'getPrototypeOf',
  'anyOf',
  'oneOf',
  'allOf',
  'multipleOf',
]

suite('names of functions, constants and properties', () => {
  test('are noun or verb phrases and do not end in "Of"', () => {
    const code = sources(['**/*.{ts,tsx}'])
    const found = code.flatMap(({ path, text }) => {
      const names = withoutText(text).match(/\b[a-z]\w*Of\b/g) ?? []
      return names.filter((name) => !foreign.includes(name)).map((name) => `${path}: ${name}`)
    })
    assert.deepEqual(found, [])
  })
})

/** Without strings and comments. */
function withoutText(text: string): string {
  return text.replaceAll(/'(?:[^'\\\n]|\\.)*'|\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '')
}
