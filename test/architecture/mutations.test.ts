/** `npm run mutate` takes half an hour and is run manually: renaming a function must not break its mutations. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'

import { sourceMutations } from '../../scripts/mutate/source-mutations.ts'
import { findFile, readSources } from '../../scripts/mutate/working-copy.ts'

const root = join(import.meta.dirname, '../..')

test('each mutation names a piece of source that occurs once', () => {
  const sources = readSources(root)
  for (const { row, find } of sourceMutations) {
    assert.doesNotThrow(() => findFile(root, find, sources), row)
  }
})
