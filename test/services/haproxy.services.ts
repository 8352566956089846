/** The shipped HAProxy configuration without a server. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { freePort } from '../support/processes/free-port.ts'
import { startHaproxy } from './programs.ts'

suite('HAProxy', () => {
  test('returns an API error with Retry-After without a replica', async (t) => {
    const { url } = await startHaproxy(t, [await freePort()])
    const response = await fetch(`${url}/user`)
    assert.equal(response.status, 503)
    assert.equal(response.headers.get('retry-after'), '2')
    const body: unknown = await response.json()
    assert.ok(typeof body === 'object' && body !== null)
    assert.deepEqual(Object.keys(body), ['code', 'error_code', 'msg'])
  })
})
