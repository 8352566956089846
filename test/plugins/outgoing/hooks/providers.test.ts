/** Hooks in external sign-ins: permission to sign up, and token claims. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { decodeJwt } from 'jose'

import { externalServer, unverifiedProfile, verifiedProfile } from '../../../support/external.ts'
import { idTokenServer } from '../../../support/id-token-server.ts'
import { nextId } from '../../../support/linking.ts'
import { statusAndCode } from '../../../support/requests.ts'
import { adminCreatedUser, newAddress } from '../../../support/users.ts'
import { startHookReceiver } from '../../../support/webhooks/hook-receiver.ts'

test('calls the before user created hook for new users only and the token hook for each token', async (t) => {
  const receiver = await startHookReceiver(t)
  receiver.answer(({ metadata, user, claims }) => {
    if (metadata.name === 'customize-access-token') {
      return { claims: { ...Object(claims), tier: 1 } }
    }
    const isWelcome = !Object(user).email.startsWith('blocked')
    return isWelcome ? {} : { error: { http_code: 403, message: 'Only members may sign up' } }
  })
  const env = receiver.env('BEFORE_USER_CREATED', 'CUSTOM_ACCESS_TOKEN')
  const server = await externalServer(t, { env })
  const asked = () =>
    receiver.calls.filter(({ event }) => event.metadata.name === 'before-user-created').length

  const registeredUser = verifiedProfile(newAddress(), nextId())
  const first = await server.signInWith('github', registeredUser)
  assert.equal(decodeJwt(first.fragment.access_token ?? '').tier, 1)
  assert.equal(asked(), 1)
  const again = await server.signInWith('github', registeredUser)
  assert.equal(decodeJwt(again.fragment.access_token ?? '').tier, 1)
  assert.equal(asked(), 1)

  const attacker = verifiedProfile(newAddress('blocked'), nextId())
  const rejected = await server.signInWith('github', attacker)
  assert.equal(rejected.fragment.access_token, undefined)
  assert.equal(rejected.query.error_description, 'Only members may sign up')
  assert.equal(await server.findUserBy({ provider: 'github', id: attacker.id }), undefined)

  const known = newAddress('blocked')
  await adminCreatedUser(server.app, { email: known, email_confirm: true })
  const linked = await server.signInWith('gitlab', verifiedProfile(known, nextId()))
  assert.equal(decodeJwt(linked.fragment.access_token ?? '').tier, 1)
  assert.equal(asked(), 2)
})

test('calls the before user created hook for unverified emails, taken or not', async (t) => {
  const receiver = await startHookReceiver(t)
  receiver.answer(() => ({ error: { http_code: 403, message: 'Only members may sign up' } }))
  const server = await externalServer(t, { env: receiver.env('BEFORE_USER_CREATED') })
  const known = newAddress('known')
  await adminCreatedUser(server.app, { email: known, email_confirm: true })
  for (const email of [known, newAddress('unknown')]) {
    const rejected = await server.signInWith('github', unverifiedProfile(email, nextId()))
    assert.equal(rejected.query.error_description, 'Only members may sign up', email)
  }
  assert.equal(receiver.calls.length, 2)
})

test('rejects an id_token sign-in by the before user created hook and by the token hook', async (t) => {
  const receiver = await startHookReceiver(t)
  const rejecting = { claims: false }
  receiver.answer(({ metadata, user, claims }) => {
    if (metadata.name === 'customize-access-token') {
      const pay = { error: { http_code: 402, message: 'Pay first' } }
      return rejecting.claims ? pay : { claims: { ...Object(claims), tier: 1 } }
    }
    const isWelcome = !Object(user).email.startsWith('blocked')
    return isWelcome ? {} : { error: { http_code: 403, message: 'Only members may sign up' } }
  })
  const env = receiver.env('BEFORE_USER_CREATED', 'CUSTOM_ACCESS_TOKEN')
  const { app, signInWith } = await idTokenServer(t, env)
  const count = async (table: 'users' | 'identities' | 'sessions') =>
    (await app.db.selectFrom(table).select('id').execute()).length

  const attacker = await signInWith({ sub: 'blocked', email: newAddress('blocked') })
  assert.deepEqual(statusAndCode(attacker), [403, 'unknown'])
  assert.equal(attacker.json().msg, 'Only members may sign up')
  assert.deepEqual([await count('users'), await count('identities')], [0, 0])

  rejecting.claims = true
  const registeredUser = { sub: 'member', email: newAddress('member') }
  const unpaid = await signInWith(registeredUser)
  assert.deepEqual(statusAndCode(unpaid), [402, 'unknown'])
  assert.equal(unpaid.json().msg, 'Pay first')
  assert.ok(!unpaid.body.includes('access_token'))
  assert.deepEqual([await count('users'), await count('sessions')], [1, 0])

  rejecting.claims = false
  const paid = await signInWith(registeredUser)
  assert.equal(paid.statusCode, 200, paid.body)
  assert.equal(decodeJwt(paid.json().access_token).tier, 1)
  assert.deepEqual([await count('users'), await count('sessions')], [1, 1])
})
