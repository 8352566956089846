/** docs/errors.md explains exactly those errors that lead to it, and each of them is one that is answered. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'

import { explained } from '../../plugins/api-errors/help.ts'

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')

suite('docs/errors.md', () => {
  const codes = [...read('docs/errors.md').matchAll(/^## ([a-z]+_[a-z_]+)$/gm)].map(
    ([, code]) => code,
  )

  test('has a heading for each error that leads to it', () => {
    assert.deepEqual(codes.toSorted(), explained.toSorted())
  })

  test('explains errors of the catalogue', () => {
    const catalogue = read('errors.ts')
    assert.deepEqual(
      explained.filter((code) => !catalogue.includes(`'${code}'`)),
      [],
    )
  })
})
