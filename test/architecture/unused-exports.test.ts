/** What a file exports, another file imports. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { type Source, sources } from './sources.ts'

/**
 * A name is used when any other file imports it, also a test: tests call functions that their callers in the product
 * wrap. `import()` and `import *` use every name of a file, such as those of commands and of entry points for builds.
 */
function findUnusedExports(exporting: Source[], importing: Source[]): string[] {
  const used = new Set<string>()
  for (const { imports } of importing) {
    for (const { file, everyName } of imports) {
      for (const name of everyName ?? ['*']) used.add(`${file}: ${name}`)
    }
  }
  return exporting
    .filter(({ path }) => !used.has(`${path}: *`))
    .flatMap(({ path, text }) => readExportedNames(text).map((name) => `${path}: ${name}`))
    .filter((name) => !used.has(name))
}

const declaration =
  /^export (?:async )?(?:function\*?|const|let|(?:abstract )?class|interface|type) (\w+)/gm
const destructured = /^export const [[{]([^=]*?)[\]}] *=/gm
const listed = /^export (?:type )?\{([^}]*)\}/gm

function readExportedNames(text: string): string[] {
  const lists = [...text.matchAll(destructured), ...text.matchAll(listed)]
  // `type A`, `a as b` and `a: b`: the last word is the exported name.
  const entries = lists.flatMap(([, list = '']) => list.split(',').map((entry) => entry.trim()))
  return [
    ...[...text.matchAll(declaration)].map(([, name = '']) => name),
    ...entries.filter((entry) => entry !== '').map((entry) => entry.split(/\W+/).at(-1) ?? ''),
    ...(/^export default /m.test(text) ? ['default'] : []),
  ]
}

suite('exports', () => {
  test('are imported by another file', () => {
    const exporting = sources([
      '{bench,cli,config,console,db,dev,mail,modules,plugins,providers,routes,schemas,scripts,server,sms,ui}/**/*.{ts,tsx}',
      '*.ts',
    ])
    assert.deepEqual(findUnusedExports(exporting, sources(['**/*.{ts,tsx,mts,mjs,js}'])), [])
  })
})
