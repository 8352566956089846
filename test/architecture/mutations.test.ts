/** `npm run mutate` takes half an hour and is run by hand: a renamed function must not leave it with changes it cannot make. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'

import { sourceMutations } from '../../scripts/mutate/source-mutations.ts'
import { findFile } from '../../scripts/mutate/working-copy.ts'

const root = join(import.meta.dirname, '../..')

test('each mutation names a piece of source that occurs once', () => {
  for (const { row, find } of sourceMutations) {
    assert.doesNotThrow(() => findFile(root, find), row)
  }
})
