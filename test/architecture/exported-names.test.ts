/** An exported name is unique, so that a search finds one declaration. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { sources } from './sources.ts'

/** What each file of a kind exports: commands, and migrations. */
const shared = ['run', 'usage', 'up']

const declaration =
  /^export (?:async )?(?:function\*?|const|(?:abstract )?class|interface|type|enum) (\w+)/gm

/** A type of a type, such as `ParamOf`, is named like this. */
const value = /^export (?:async )?(?:function\*?|const) (\w+)/gm

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

  test('are verbs or nouns, and do not end in "Of"', () => {
    const code = sources([
      '{bench/{core,enumeration,own,scenarios},cli,config,db,mail,modules,plugins,providers,routes,schemas,scripts,server,sms}/**/*.ts',
      '*.ts',
    ])
    const names = code.flatMap(({ text }) => [...text.matchAll(value)].map(([, name]) => name))
    assert.deepEqual(
      names.filter((name = '') => name.endsWith('Of')),
      [],
    )
  })
})
