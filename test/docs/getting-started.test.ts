import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'

import { withPresets } from '../../cli/dev/presets.ts'

const page = readFileSync(new URL('../../docs/getting-started.md', import.meta.url), 'utf8')

suite('docs/getting-started.md', () => {
  test('lists each development default with its value', () => {
    const rows = [...page.matchAll(/^\| `([A-Z\d_]+)` \| `([^`]*)` \|$/gm)]
    const reported = Object.fromEntries(rows.map(([, name, value]) => [name, value]))
    assert.deepEqual(reported, withPresets({}, {}))
  })

  test('development defaults are replaced by variables under each name', () => {
    const env = { AUTH_API_PORT: '9', LOG_LEVEL: 'debug', GOTRUE_SITE_URL: 'http://x' }
    const values: Record<string, string | undefined> = withPresets(env, {})
    assert.equal(values.AUTH_API_EXTERNAL_URL, 'http://127.0.0.1:9')
    assert.equal(values.LOG_LEVEL, 'debug')
    assert.deepEqual(['PORT' in values, 'AUTH_SITE_URL' in values], [false, false])
  })
})
