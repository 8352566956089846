import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import { inspect } from 'node:util'

import {
  type BreachedPasswordsDeps,
  createBreachedPasswords,
} from '../../../../plugins/security/passwords/breached-passwords.ts'
import { type VendorResponse, vendorServer } from '../../../support/vendor-server.ts'

// SHA-1 of "password", as published: 5BAA6 1E4C9B93F3F0682250B6CF8331B7EE68FD8
const SUFFIX = '1E4C9B93F3F0682250B6CF8331B7EE68FD8'
const before = `${'0'.repeat(34)}A:12`
const after = `${'F'.repeat(35)}:1`
const range = (...lines: string[]): VendorResponse => ({ text: lines.join('\r\n') })

async function list(
  t: TestContext,
  responses: [VendorResponse, ...VendorResponse[]],
  config: Partial<BreachedPasswordsDeps['config']> = {},
) {
  const vendor = await vendorServer(t, ...responses)
  const warnings: string[] = []
  const passwords = createBreachedPasswords({
    config: {
      AUTH_PASSWORD_HIBP_ENABLED: true,
      AUTH_PASSWORD_HIBP_FAIL_CLOSED: false,
      AUTH_PASSWORD_HIBP_URL: vendor.url,
      ...config,
    },
    fetch,
    log: { warn: (...args: unknown[]) => void warnings.push(inspect(args, { depth: 5 })) },
    timeoutMs: 1000,
  })
  return { vendor, warnings, ...passwords }
}

suite('breached passwords', () => {
  test('sends five digits of the hash and requests padding', async (t) => {
    const { vendor, isBreached } = await list(t, [range(before, `${SUFFIX}:9545824`, after)])

    assert.equal(await isBreached('password'), true)

    const [seen] = vendor.seen
    assert.equal(seen?.method, 'GET')
    assert.equal(seen.path, '/range/5BAA6')
    assert.equal(seen.headers['add-padding'], 'true')
    assert.equal(seen.body, '')
  })

  const ranges: [string, VendorResponse, boolean][] = [
    ['a hash in the first line', range(`${SUFFIX}:1`, after), true],
    ['a hash in the last line', range(before, `${SUFFIX}:1`), true],
    ['a hash in the only line', range(`${SUFFIX}:1`), true],
    ['a hash in lower case', range(before, `${SUFFIX.toLowerCase()}:3`), true],
    ['a hash that is not listed', range(before, after), false],
    ['padding with a count of zero', range(before, `${SUFFIX}:0`, after), false],
    ['another suffix with the same ending', range(before, `0${SUFFIX.slice(1)}:5`), false],
  ]
  for (const [what, response, breached] of ranges) {
    test(`reports a ${breached ? 'breach' : 'safe password'} for ${what}`, async (t) => {
      const { isBreached } = await list(t, [response])
      assert.equal(await isBreached('password'), breached)
    })
  }

  const errors: [string, VendorResponse][] = [
    ['a timeout', 'hang'],
    ['a truncated response', 'stall'],
    ['a dropped connection', 'drop'],
    ['an error response', { status: 503, text: `${SUFFIX}:1` }],
    ['an HTML page', { text: '<html>sign in to the network</html>' }],
    ['an empty response', { text: '' }],
    ['a redirect', { status: 302, headers: { location: '/x' } }],
  ]
  for (const [what, response] of errors) {
    test(`${what}: accepts the password with a warning, or rejects it when failing closed`, async (t) => {
      const open = await list(t, [response])
      assert.equal(await open.isBreached('password'), false)
      assert.equal(open.warnings.length, 1)
      assert.doesNotMatch(open.warnings.join(), /5BAA6|password"/)

      const closed = await list(t, [response], { AUTH_PASSWORD_HIBP_FAIL_CLOSED: true })
      await assert.rejects(closed.isBreached('password'), {
        status: 500,
        errorCode: 'unexpected_failure',
      })
    })
  }

  test('caches a range for an hour and does not cache failures', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: 1_000_000 })
    const { vendor, isBreached } = await list(t, ['drop', range(`${SUFFIX}:1`)])

    const hour = 60 * 60 * 1000
    const steps = [0, 0, 0, hour, 1]
    const counts: number[] = []
    for (const step of steps) {
      t.mock.timers.tick(step)
      await isBreached('password')
      counts.push(vendor.seen.length)
    }

    assert.deepEqual(counts, [1, 2, 2, 2, 3])
  })

  test('sends no request while the check is disabled', async (t) => {
    const { vendor, isBreached } = await list(t, ['drop'], { AUTH_PASSWORD_HIBP_ENABLED: false })
    assert.equal(await isBreached('password'), false)
    assert.equal(vendor.connections(), 0)
  })
})
