/** The hooks for whoever comes by a provider: who may have an account, and what is in their token. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { decodeJwt } from 'jose'

import { externalServer, proven, unproven } from '../support/external.ts'
import { startHookReceiver } from '../support/hook-receiver.ts'
import { idTokenServer } from '../support/id-token-server.ts'
import { nextId } from '../support/linking.ts'
import { createdPerson, newAddress } from '../support/people.ts'
import { outcomeOf } from '../support/requests.ts'

test('only who is new is asked about, and every token has the claims of the hook', async (t) => {
  const receiver = await startHookReceiver(t)
  receiver.answer(({ metadata, user, claims }) => {
    if (metadata.name === 'customize-access-token') {
      return { claims: { ...Object(claims), tier: 1 } }
    }
    const isWelcome = !Object(user).email.startsWith('stranger')
    return isWelcome ? {} : { error: { http_code: 403, message: 'Only members may sign up' } }
  })
  const env = receiver.env('BEFORE_USER_CREATED', 'CUSTOM_ACCESS_TOKEN')
  const server = await externalServer(t, { env })
  const asked = () =>
    receiver.calls.filter(({ event }) => event.metadata.name === 'before-user-created').length

  const member = proven(newAddress(), nextId())
  const first = await server.signInWith('github', member)
  assert.equal(decodeJwt(first.fragment.access_token ?? '').tier, 1)
  assert.equal(asked(), 1)
  const again = await server.signInWith('github', member)
  assert.equal(decodeJwt(again.fragment.access_token ?? '').tier, 1)
  assert.equal(asked(), 1)

  const stranger = proven(newAddress('stranger'), nextId())
  const refused = await server.signInWith('github', stranger)
  assert.equal(refused.fragment.access_token, undefined)
  assert.equal(refused.query.error_description, 'Only members may sign up')
  assert.equal(await server.personWith({ provider: 'github', id: stranger.id }), undefined)

  const known = newAddress('stranger')
  await createdPerson(server.app, { email: known, email_confirm: true })
  const linked = await server.signInWith('gitlab', proven(known, nextId()))
  assert.equal(decodeJwt(linked.fragment.access_token ?? '').tier, 1)
  assert.equal(asked(), 2)
})

test('an address that the provider has not proven is asked about, whether somebody has it or not', async (t) => {
  const receiver = await startHookReceiver(t)
  receiver.answer(() => ({ error: { http_code: 403, message: 'Only members may sign up' } }))
  const server = await externalServer(t, { env: receiver.env('BEFORE_USER_CREATED') })
  const known = newAddress('known')
  await createdPerson(server.app, { email: known, email_confirm: true })
  for (const email of [known, newAddress('nobody')]) {
    const refused = await server.signInWith('github', unproven(email, nextId()))
    assert.equal(refused.query.error_description, 'Only members may sign up', email)
  }
  assert.equal(receiver.calls.length, 2)
})

test('an id_token of somebody whom the hook does not want makes no account, and the claims hook may refuse its session', async (t) => {
  const receiver = await startHookReceiver(t)
  const refusing = { claims: false }
  receiver.answer(({ metadata, user, claims }) => {
    if (metadata.name === 'customize-access-token') {
      const pay = { error: { http_code: 402, message: 'Pay first' } }
      return refusing.claims ? pay : { claims: { ...Object(claims), tier: 1 } }
    }
    const isWelcome = !Object(user).email.startsWith('stranger')
    return isWelcome ? {} : { error: { http_code: 403, message: 'Only members may sign up' } }
  })
  const env = receiver.env('BEFORE_USER_CREATED', 'CUSTOM_ACCESS_TOKEN')
  const { app, signInWith } = await idTokenServer(t, env)
  const count = async (table: 'users' | 'identities' | 'sessions') =>
    (await app.db.selectFrom(table).select('id').execute()).length

  const stranger = await signInWith({ sub: 'stranger', email: newAddress('stranger') })
  assert.deepEqual(outcomeOf(stranger), [403, 'unknown'])
  assert.equal(stranger.json().msg, 'Only members may sign up')
  assert.deepEqual([await count('users'), await count('identities')], [0, 0])

  refusing.claims = true
  const member = { sub: 'member', email: newAddress('member') }
  const unpaid = await signInWith(member)
  assert.deepEqual(outcomeOf(unpaid), [402, 'unknown'])
  assert.equal(unpaid.json().msg, 'Pay first')
  assert.ok(!unpaid.body.includes('access_token'))
  assert.deepEqual([await count('users'), await count('sessions')], [1, 0])

  refusing.claims = false
  const paid = await signInWith(member)
  assert.equal(paid.statusCode, 200, paid.body)
  assert.equal(decodeJwt(paid.json().access_token).tier, 1)
  assert.deepEqual([await count('users'), await count('sessions')], [1, 1])
})
