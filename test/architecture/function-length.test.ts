/** No function is longer than 60 lines. */
import assert from 'node:assert/strict'
import { stripTypeScriptTypes } from 'node:module'
import { suite, test } from 'node:test'

import { type Node, parse } from 'acorn'
import { full } from 'acorn-walk'

import { sources } from './sources.ts'

const maxLines = 60

const functionTypes = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
])

const code = sources([
  '{bench,cli,config,console,db,dev,mail,modules,plugins,providers,routes,schemas,scripts,server,sms,ui}/**/*.ts',
  '*.ts',
])

/** The lengths of the functions of a file that are too long. Types are blanked out, so lines stay what they are. */
function longFunctions(text: string): number[] {
  const script = stripTypeScriptTypes(text, { mode: 'strip' }).replace(/^#!.*/, '')
  const options = { ecmaVersion: 'latest', sourceType: 'module', locations: true } as const
  const lengths: number[] = []
  full(parse(script, options), (node: Node) => {
    const { loc, type } = node
    const isFunction = functionTypes.has(type)
    const lines = loc ? loc.end.line - loc.start.line + 1 : 0
    if (isFunction && lines > maxLines) lengths.push(lines)
  })
  return lengths
}

suite('length of functions', () => {
  test(`no function has more than ${maxLines} lines`, () => {
    const over = code.filter(({ text }) => longFunctions(text).length > 0)
    assert.deepEqual(
      over.map(({ path }) => path),
      [],
    )
  })

  test('counts declarations, expressions, arrow functions and methods', () => {
    const body = '\n'.repeat(maxLines)
    for (const form of [`function f() {${body}}`, `const f = () => {${body}}`]) {
      assert.deepEqual(longFunctions(form), [maxLines + 1])
    }
    assert.deepEqual(longFunctions(`const o = { f(a: string) {${body}} }`), [maxLines + 1])
    assert.deepEqual(longFunctions(`class C { f() {${body}} }`), [maxLines + 1])
    assert.deepEqual(longFunctions(`function f() {${'\n'.repeat(maxLines - 1)}}`), [])
  })
})
