import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { catalogue } from '../../bench/catalogue.ts'
import type { Scenario } from '../../bench/core/scenario.ts'
import { measure } from '../../bench/measure.ts'
import { fakeServer } from './fake-server.ts'

const schedule = { connections: 4, seconds: 0.05, rounds: 2, stock: 20 }

suite('measure', () => {
  // The optional ones write to the database of the server.
  for (const scenario of catalogue.filter(({ isOptional }) => !isOptional)) {
    test(`${scenario.name}: each request succeeds`, async (t) => {
      const { target } = await fakeServer(t)

      const [result] = await measure(scenario, [{ target, ...unseen }], schedule)

      assert.ok(result && !('skipped' in result))
      assert.deepEqual(result.errors, {})
      assert.ok(result.requests > 4, `${result.requests} requests`)
      assert.ok(result.p50 > 0 && result.p50 <= result.p95 && result.p95 <= result.p99)
      assert.ok(result.perSecond > 0)
    })
  }

  test('loads both variants and skips one that fails, with the reason', async (t) => {
    const first = await fakeServer(t)
    const second = await fakeServer(t, { disabled: ['/signup'] })
    const variants = [first, second].map(({ target }) => ({ target, ...unseen }))

    const [result, rejected] = await measure(scenarioNamed('sign-up-anonymous'), variants, schedule)

    assert.ok(result && !('skipped' in result))
    assert.deepEqual(rejected, { variant: 'fake', skipped: '422 feature_disabled' })
    assert.equal(second.state.requests, 1)
  })

  test('reports a failed preparation as the reason', async (t) => {
    const { target } = await fakeServer(t, { disabled: ['/admin/users'] })

    const results = await measure(scenarioNamed('verify'), [{ target, ...unseen }], schedule)

    assert.deepEqual(results, [
      { variant: 'fake', skipped: 'POST /admin/users: 422 feature_disabled' },
    ])
  })

  test('uses each prepared item once and stops when all are used', async (t) => {
    const { target } = await fakeServer(t)
    const sent: number[] = []
    const scenario: Scenario = {
      name: 'spending',
      prepare: async () => ({
        stock: 20,
        request(i) {
          sent.push(i)
          return { method: 'GET', path: '/user' }
        },
      }),
    }

    await measure(scenario, [{ target, ...unseen }], { ...schedule, seconds: 5 })

    assert.deepEqual(
      sent,
      Array.from({ length: 20 }, (_, i) => i),
    )
  })

  test('counts failures by type and not as requests', async (t) => {
    const { target } = await fakeServer(t)
    let first = true
    const scenario: Scenario = {
      name: 'failing',
      prepare: async () => ({
        stock: 11,
        request() {
          if (first) {
            first = false
            return { method: 'GET', path: '/user' }
          }
          const body = { refresh_token: 'spent' }
          return { method: 'POST', path: '/token?grant_type=refresh_token', body }
        },
      }),
    }

    const [result] = await measure(scenario, [{ target, ...unseen }], {
      ...schedule,
      // The stock ends the rounds, however slow the machine is.
      seconds: 5,
    })

    assert.ok(result && !('skipped' in result))
    assert.equal(result.requests, 0)
    // Eleven items, minus the first and two of the warm-up.
    assert.deepEqual(result.errors, { '400 refresh_token_already_used': 8 })
  })
})

const unseen = { serverPids: [], postgresPid: undefined }

function scenarioNamed(name: string): Scenario {
  const scenario = catalogue.find((candidate) => candidate.name === name)
  assert.ok(scenario)
  return scenario
}
