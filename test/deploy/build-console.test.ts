/** The files of the console as the image has them. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'

import { buildBundle, readBundle } from '../../routes/console/site/bundle.ts'
import { temporaryFolder } from '../support/processes/temporary-folder.ts'

const max = 200_000

suite('console bundle', () => {
  test(`is smaller than ${max} bytes, compressed`, async (t) => {
    const folder = temporaryFolder(t, 'bundle')
    const bundle = await buildBundle(folder)
    assert.deepEqual(readBundle(folder), bundle)
    const compressed = readdirSync(folder).filter((name) => name.endsWith('.gz'))
    assert.equal(compressed.length, 2)
    const sizes = compressed.map((name) => readFileSync(join(folder, name)).length)
    const total = sizes.reduce((sum, size) => sum + size, 0)
    assert.ok(total < max, `${total}`)
    const script = readFileSync(join(folder, bundle.script), 'utf8')
    assert.doesNotMatch(script, /sourceMappingURL|\beval\(|new Function\(/)
  })
})
