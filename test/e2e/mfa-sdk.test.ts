/** Second factors by the published client SDK, over HTTP. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { AuthClient } from '@supabase/auth-js'

import { everyFactor, totpCode, wrongCode } from '../support/factors/factors.ts'
import { buildWithSms } from '../support/messages/phone-journeys.ts'
import { newNumber } from '../support/users.ts'

const password = 'correct horse battery'

suite('MFA by SDK', () => {
  test('totp: enroll, challenge, verify, levels, listFactors, unenroll', async (t) => {
    const { client } = await listen(t)
    assert.equal((await level(client)).join(), 'aal1,aal1')
    const enrolled = await client.mfa.enroll({ factorType: 'totp', friendlyName: 'My app' })
    assert.ok(enrolled.data)
    const { id: factorId, totp } = enrolled.data
    assert.ok(totp.qr_code.startsWith('data:image/svg+xml;utf-8,<svg '))
    assert.equal(encodeURI(totp.qr_code).includes('#'), false)

    const requested = await client.mfa.challenge({ factorId })
    assert.ok(requested.data)
    const challengeId = requested.data.id
    const wrong = await client.mfa.verify({ factorId, challengeId, code: wrongCode(totp.secret) })
    assert.equal(wrong.error?.code, 'mfa_verification_failed')
    const events: string[] = []
    client.onAuthStateChange((event) => void events.push(event))
    const right = await client.mfa.verify({ factorId, challengeId, code: totpCode(totp.secret) })
    assert.equal(right.error, null)
    assert.ok(events.includes('MFA_CHALLENGE_VERIFIED'))
    assert.equal((await level(client)).join(), 'aal2,aal2')

    assert.equal((await client.signOut()).error, null)
    const email = right.data?.user.email ?? assert.fail()
    assert.equal((await client.signInWithPassword({ email, password })).error, null)
    assert.equal((await level(client)).join(), 'aal1,aal2')
    const listed = await client.mfa.listFactors()
    assert.deepEqual(
      listed.data?.totp.map(({ id, status }) => [id, status]),
      [[factorId, 'verified']],
    )
    const early = await client.mfa.unenroll({ factorId })
    assert.equal(early.error?.code, 'insufficient_aal')
    const code = totpCode(totp.secret, 1)
    assert.equal((await client.mfa.challengeAndVerify({ factorId, code })).error, null)
    const removed = await client.mfa.unenroll({ factorId })
    assert.equal(removed.data?.id, factorId)
    assert.equal((await client.refreshSession()).error, null)
    assert.equal((await level(client)).join(), 'aal1,aal1')
  })

  test('phone: enroll, challenge, verify', async (t) => {
    const { client, sms } = await listen(t)
    const phone = newNumber()
    const enrolled = await client.mfa.enroll({ factorType: 'phone', phone: `+${phone}` })
    assert.ok(enrolled.data)
    const factorId = enrolled.data.id
    const requested = await client.mfa.challenge({ factorId, channel: 'whatsapp' })
    assert.ok(requested.data)
    const code = await sms.code(phone)
    const challengeId = requested.data.id
    assert.equal((await client.mfa.verify({ factorId, challengeId, code })).error, null)
    const { data } = await client.mfa.getAuthenticatorAssuranceLevel()
    assert.equal(data?.currentLevel, 'aal2')
    assert.deepEqual(
      data?.currentAuthenticationMethods.map((entry) => Object(entry).method),
      ['mfa/phone', 'password'],
    )
  })

  test('errors: a taken name, an unknown factor', async (t) => {
    const { client } = await listen(t)
    await client.mfa.enroll({ factorType: 'totp' })
    const again = await client.mfa.enroll({ factorType: 'totp' })
    assert.equal(again.error?.code, 'mfa_factor_name_conflict')
    const unknown = await client.mfa.challenge({ factorId: crypto.randomUUID() })
    assert.equal(unknown.error?.code, 'mfa_factor_not_found')
  })
})

async function level(client: InstanceType<typeof AuthClient>) {
  const { data } = await client.mfa.getAuthenticatorAssuranceLevel()
  return [data?.currentLevel, data?.nextLevel]
}

/** A signed-in client of a server that listens. */
async function listen(t: TestContext) {
  const { app, sms } = await buildWithSms(t, { env: everyFactor })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const client = new AuthClient({ url, autoRefreshToken: false, persistSession: true })
  t.after(() => client.stopAutoRefresh())
  const email = `${crypto.randomUUID()}@example.com`
  assert.equal((await client.signUp({ email, password })).error, null)
  return { client, sms }
}
