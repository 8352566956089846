import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { catalogue } from '../../bench/catalogue.ts'
import { measure } from '../../bench/measure.ts'
import type { Scenario } from '../../bench/scenario.ts'
import { fakeServer } from './fake-server.ts'

const schedule = { connections: 4, seconds: 0.05, rounds: 2, stock: 20 }

suite('measure', () => {
  for (const scenario of catalogue) {
    test(`${scenario.name}: every request of the load is answered well`, async (t) => {
      const { target } = await fakeServer(t)

      const [result] = await measure(scenario, [{ target, ...unseen }], schedule)

      assert.ok(result && !('skipped' in result))
      assert.deepEqual(result.errors, {})
      assert.ok(result.requests > 4, `${result.requests} requests`)
      assert.ok(result.p50 > 0 && result.p50 <= result.p95 && result.p95 <= result.p99)
      assert.ok(result.perSecond > 0)
    })
  }

  test('both sides are loaded; one that refuses is skipped with its reason', async (t) => {
    const first = await fakeServer(t)
    const second = await fakeServer(t, { disabled: ['/signup'] })
    const sides = [first, second].map(({ target }) => ({ target, ...unseen }))

    const [result, refused] = await measure(scenarioNamed('sign-up-anonymous'), sides, schedule)

    assert.ok(result && !('skipped' in result))
    assert.deepEqual(refused, { side: 'fake', skipped: '422 feature_disabled' })
    assert.equal(second.state.requests, 1)
  })

  test('what a scenario cannot prepare is a reason too', async (t) => {
    const { target } = await fakeServer(t, { disabled: ['/admin/users'] })

    const results = await measure(scenarioNamed('verify'), [{ target, ...unseen }], schedule)

    assert.deepEqual(results, [
      { side: 'fake', skipped: 'POST /admin/users: 422 feature_disabled' },
    ])
  })

  test('a stock is spent once and ends the rounds', async (t) => {
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

  test('failures are counted by kind and are not requests', async (t) => {
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
    // Eleven in stock, less the first one and the two of the warm-up.
    assert.deepEqual(result.errors, { '400 refresh_token_already_used': 8 })
  })
})

const unseen = { serverPids: [], postgresPid: undefined }

function scenarioNamed(name: string): Scenario {
  const scenario = catalogue.find((candidate) => candidate.name === name)
  assert.ok(scenario)
  return scenario
}
