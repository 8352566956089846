import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { enumerate, judge, questions } from '../../bench/enumeration.ts'
import { plainForm } from '../../bench/plain-form.ts'
import { fakeServer } from './fake-server.ts'

const samples = 40

suite('enumeration', () => {
  test('a server that treats all alike gives nothing away in text', async (t) => {
    const { target } = await fakeServer(t)
    const finding = await enumerate(target, recover(), samples)
    assert.deepEqual(finding.tells, [])
    assert.deepEqual(finding.statuses, [200])
  })

  test('three milliseconds more for known addresses are seen, and none are not', () => {
    const [question] = questions
    assert.ok(question)
    const jitter = Array.from({ length: samples }, (_, i) => (i * 7) % 5)
    const took = (ms: number) => ({
      times: jitter.map((more) => ms + more / 2),
      forms: new Set<string>(),
      statuses: new Set([200]),
    })
    const leaking = judge(question, took(13), took(10))
    assert.equal(leaking.alike, false)
    assert.equal(leaking.comparison.dominance, 1)
    assert.equal(leaking.knownMs - leaking.unknownMs, 3)
    assert.equal(judge(question, took(10), took(10)).alike, true)
  })

  test('one field more for known addresses is seen', async (t) => {
    const { target } = await fakeServer(t, { leak: { sent: true } })
    const finding = await enumerate(target, recover(), samples)
    assert.equal(finding.alike, false)
    assert.equal(finding.tells.length, 2)
    assert.match(finding.tells[0] ?? '', /^known: 200 .*"sent":true/)
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

function recover() {
  const question = questions.find(({ name }) => name === 'recover')
  assert.ok(question)
  return question
}

function form(body: object): string {
  return plainForm({ status: 200, headers: {}, body: JSON.stringify(body) })
}
