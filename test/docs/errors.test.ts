/** docs/errors.md explains exactly the errors that link to it, and each of them can be returned. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'

import { explained } from '../../plugins/http/api-errors/help.ts'

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')

suite('docs/errors.md', () => {
  const codes = [...read('docs/errors.md').matchAll(/^## ([a-z]+_[a-z_]+)$/gm)].map(
    ([, code]) => code,
  )

  test('has a heading for each error that links to it', () => {
    assert.deepEqual(codes.toSorted(), explained.toSorted())
  })

  test('explains known errors only', () => {
    const catalogue = read('schemas/errors.ts')
    assert.deepEqual(
      explained.filter((code) => !catalogue.includes(`'${code}'`)),
      [],
    )
  })
})
