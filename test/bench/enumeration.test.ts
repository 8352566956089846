import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { makePeople } from '../../bench/enumeration/crowd.ts'
import { questions } from '../../bench/enumeration/questions.ts'
import { type Crowd, enumerate, judge } from '../../bench/enumeration.ts'
import { plainForm } from '../../bench/plain-form.ts'
import type { Target } from '../../bench/target.ts'
import { fakeServer } from './fake-server.ts'

const people = 40

suite('enumeration', () => {
  test('a server that treats all alike gives nothing away in text', async (t) => {
    const { target } = await fakeServer(t)
    const findings = await enumerate(target, questionOf('verify'), await crowdOf(target))
    assert.deepEqual(
      findings.map(({ kind, tells, statuses }) => [kind, tells, statuses]),
      [
        ['confirmed', [], [200]],
        ['banned', [], [200]],
        ['phone-only', [], [200]],
      ],
    )
  })

  test('who is asked for a password is compared with everybody, for strangers are as different', async (t) => {
    const { target } = await fakeServer(t, { leak: { sent: true } })
    const [finding, ...others] = await enumerate(
      target,
      questionOf('sign-in'),
      await crowdOf(target),
    )
    assert.deepEqual([finding?.kind, finding?.alike, others], ['everybody', false, []])
    assert.match(finding?.tells[0] ?? '', /^known: 200 .*"sent":true/)
  })

  test('three milliseconds more for known addresses are seen, and none are not', () => {
    const jitter = Array.from({ length: people }, (_, i) => (i * 7) % 5)
    const took = (ms: number) => ({
      times: jitter.map((more) => ms + more / 2),
      forms: new Set<string>(),
      statuses: new Set([200]),
    })
    const leaking = judge('sign-in', 'imported', took(13), took(10))
    assert.equal(leaking.alike, false)
    assert.equal(leaking.comparison.dominance, 1)
    assert.equal(leaking.knownMs - leaking.unknownMs, 3)
    assert.equal(judge('sign-in', 'imported', took(10), took(10)).alike, true)
  })

  test('one field more for known addresses is seen, and for numbers that are alike it is not', async (t) => {
    const { target } = await fakeServer(t, { leak: { sent: true } })
    const findings = await enumerate(target, questionOf('otp'), await crowdOf(target))
    const [confirmed, banned, phoneOnly] = findings
    assert.deepEqual([confirmed?.alike, banned?.alike], [false, false])
    assert.match(confirmed?.tells[0] ?? '', /^known: 200 .*"sent":true/)
    assert.deepEqual(phoneOnly?.tells, [])
  })

  test('a question that only addresses can be asked leaves numbers out', async (t) => {
    const { target } = await fakeServer(t)
    const findings = await enumerate(target, questionOf('recover'), await crowdOf(target))
    assert.deepEqual(
      findings.map(({ kind }) => kind),
      ['confirmed', 'banned'],
    )
  })

  test('people without an account ask by a token of their own each time', async (t) => {
    const { target, state } = await fakeServer(t)
    const crowd = new Map([['confirmed', await makePeople(target, 'confirmed', people)]] as const)
    const before = state.requests
    await enumerate(target, questionOf('put-user'), crowd)
    assert.equal(state.requests - before, 4 * people)
  })

  test('every endpoint that could tell is asked about every kind that fits', () => {
    assert.deepEqual(
      questions.map(({ name, kinds }) => [name, kinds.length]),
      [
        ['sign-up', 5],
        ['resend', 5],
        ['recover', 4],
        ['magic-link', 4],
        ['otp', 5],
        ['verify', 5],
        ['sign-in', 5],
        ['put-user', 5],
      ],
    )
  })

  const id = '5f0f4d3c-8a5e-4c53-9d55-0b6d7c6f5a10'
  const base = { id, email: 'a@example.com', at: '2026-01-02T03:04:05.678Z', identities: [] }
  const same: Record<string, object> = {
    'another id': { ...base, id: id.replaceAll('5', '6') },
    'another time': { ...base, at: '2026-01-02T03:04:05Z' },
    'another address': { ...base, email: 'b@example.com' },
    identities: { ...base, identities: [{ id, identity_data: { sub: id } }] },
  }
  for (const [difference, body] of Object.entries(same)) {
    test(`${difference} is not a difference`, () => assert.equal(form(body), form(base)))
  }

  const { email, ...rest } = base
  const other: Record<string, object> = {
    'another order of fields': { email, ...rest },
    'a missing field': rest,
    'a null': { ...base, email: null },
  }
  for (const [difference, body] of Object.entries(other)) {
    test(`${difference} is a difference`, () => assert.notEqual(form(body), form(base)))
  }

  test('status and headers count, other than those of the moment', () => {
    const body = '{}'
    const plain = plainForm({ status: 200, headers: { date: 'today' }, body })
    assert.equal(plainForm({ status: 200, headers: { date: 'then' }, body }), plain)
    assert.notEqual(plainForm({ status: 400, headers: { date: 'today' }, body }), plain)
    assert.notEqual(plainForm({ status: 200, headers: { date: 'today', via: 'x' }, body }), plain)
  })
})

function questionOf(name: string) {
  const question = questions.find((each) => each.name === name)
  assert.ok(question)
  return question
}

async function crowdOf(target: Target): Promise<Crowd> {
  const some = ['confirmed', 'banned', 'phone-only'] as const
  const made = some.map(async (kind) => [kind, await makePeople(target, kind, people)] as const)
  return new Map(await Promise.all(made))
}

function form(body: object): string {
  return plainForm({ status: 200, headers: {}, body: JSON.stringify(body) })
}
