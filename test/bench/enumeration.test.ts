import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Target } from '../../bench/core/target.ts'
import { enumerationCases } from '../../bench/enumeration/cases.ts'
import { createUsers } from '../../bench/enumeration/users.ts'
import { compareSamples, type EnumerationUsers, enumerate } from '../../bench/enumeration.ts'
import { plainForm } from '../../bench/plain-form.ts'
import { fakeServer } from './fake-server.ts'

const users = 40

suite('enumeration check', () => {
  test('finds no difference in a server that responds identically', async (t) => {
    const { target } = await fakeServer(t)
    const findings = await enumerate(target, findQuestion('verify'), await createSomeUsers(target))
    assert.deepEqual(
      findings.map(({ kind, differences, statuses }) => [kind, differences, statuses]),
      [
        ['confirmed', [], [200]],
        ['banned', [], [200]],
        ['phone-only', [], [200]],
      ],
    )
  })

  test('compares authenticated users by group, because clients without an account differ', async (t) => {
    const { target } = await fakeServer(t, { leak: { sent: true } })
    const [finding, ...others] = await enumerate(
      target,
      findQuestion('sign-in'),
      await createSomeUsers(target),
    )
    assert.deepEqual([finding?.kind, finding?.isIndistinguishable, others], ['everyone', false, []])
    assert.match(finding?.differences[0] ?? '', /^known: 200 .*"sent":true/)
  })

  test('detects a timing difference of three milliseconds and no other', () => {
    const jitter = Array.from({ length: users }, (_, i) => (i * 7) % 5)
    const took = (ms: number) => ({
      times: jitter.map((more) => ms + more / 2),
      forms: new Set<string>(),
      statuses: new Set([200]),
    })
    const leaking = compareSamples('sign-in', 'imported', took(13), took(10))
    assert.equal(leaking.isIndistinguishable, false)
    assert.equal(leaking.knownSlower, 1)
    assert.equal(leaking.knownMs - leaking.unknownMs, 3)
    assert.equal(
      compareSamples('sign-in', 'imported', took(10), took(10)).isIndistinguishable,
      true,
    )
  })

  test('detects an additional field for known emails, and none for equal numbers', async (t) => {
    const { target } = await fakeServer(t, { leak: { sent: true } })
    const findings = await enumerate(target, findQuestion('otp'), await createSomeUsers(target))
    const [confirmed, banned, phoneOnly] = findings
    assert.deepEqual([confirmed?.isIndistinguishable, banned?.isIndistinguishable], [false, false])
    assert.match(confirmed?.differences[0] ?? '', /^known: 200 .*"sent":true/)
    assert.deepEqual(phoneOnly?.differences, [])
  })

  test('skips phones for questions about emails only', async (t) => {
    const { target } = await fakeServer(t)
    const findings = await enumerate(target, findQuestion('recover'), await createSomeUsers(target))
    assert.deepEqual(
      findings.map(({ kind }) => kind),
      ['confirmed', 'banned'],
    )
  })

  test('uses a new token per request without an account', async (t) => {
    const { target, state } = await fakeServer(t)
    const byKind = new Map([['confirmed', await createUsers(target, 'confirmed', users)]] as const)
    const before = state.requests
    await enumerate(target, findQuestion('put-user'), byKind)
    assert.equal(state.requests - before, 4 * users)
  })

  test('calls each endpoint in each applicable account state', () => {
    assert.deepEqual(
      enumerationCases.map(({ name, kinds }) => [name, kinds.length]),
      [
        ['sign-up', 5],
        ['resend', 5],
        ['recover', 4],
        ['magic-link', 4],
        ['otp', 5],
        ['verify', 5],
        ['sign-in', 5],
        ['sign-in-username', 1],
        ['recover-username', 1],
        ['put-user', 5],
      ],
    )
  })

  const id = '5f0f4d3c-8a5e-4c53-9d55-0b6d7c6f5a10'
  const base = { id, email: 'a@example.com', at: '2026-01-02T03:04:05.678Z', identities: [] }
  const same: Record<string, object> = {
    'a different id': { ...base, id: id.replaceAll('5', '6') },
    'a different time': { ...base, at: '2026-01-02T03:04:05Z' },
    'a different email': { ...base, email: 'b@example.com' },
    identities: { ...base, identities: [{ id, identity_data: { sub: id } }] },
  }
  for (const [difference, body] of Object.entries(same)) {
    test(`ignores ${difference}`, () => assert.equal(form(body), form(base)))
  }

  const { email, ...rest } = base
  const other: Record<string, object> = {
    'the order of fields': { email, ...rest },
    'a missing field': rest,
    'a null': { ...base, email: null },
  }
  for (const [difference, body] of Object.entries(other)) {
    test(`detects ${difference}`, () => assert.notEqual(form(body), form(base)))
  }

  test('compares status and headers except variable ones', () => {
    const body = '{}'
    const plain = plainForm({ status: 200, headers: { date: 'today' }, body })
    assert.equal(plainForm({ status: 200, headers: { date: 'then' }, body }), plain)
    assert.notEqual(plainForm({ status: 400, headers: { date: 'today' }, body }), plain)
    assert.notEqual(plainForm({ status: 200, headers: { date: 'today', via: 'x' }, body }), plain)
  })
})

function findQuestion(name: string) {
  const question = enumerationCases.find((each) => each.name === name)
  assert.ok(question)
  return question
}

async function createSomeUsers(target: Target): Promise<EnumerationUsers> {
  const some = ['confirmed', 'banned', 'phone-only'] as const
  const made = some.map(async (kind) => [kind, await createUsers(target, kind, users)] as const)
  return new Map(await Promise.all(made))
}

function form(body: object): string {
  return plainForm({ status: 200, headers: {}, body: JSON.stringify(body) })
}
