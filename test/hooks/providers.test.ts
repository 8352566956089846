/** The hooks for whoever comes by a provider: who may have an account, and what is in their token. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { decodeJwt } from 'jose'

import { externalServer, proven } from '../support/external.ts'
import { startHookReceiver } from '../support/hook-receiver.ts'
import { nextId } from '../support/linking.ts'
import { createdPerson, newAddress } from '../support/people.ts'

test('only who is new is asked about, and every token has the claims of the hook', async (t) => {
  const receiver = await startHookReceiver(t)
  receiver.answer(({ metadata, user, claims }) => {
    if (metadata.name === 'customize-access-token')
      return { claims: { ...Object(claims), tier: 1 } }
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
