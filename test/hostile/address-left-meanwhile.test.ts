/** Whose an address is may change while a sign-in by it waits for that person. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { decodeJwt } from 'jose'

import { describe, proven, unproven } from '../support/external.ts'
import { holdPerson } from '../support/held-person.ts'
import { identityId, link, nextId, unlink, userOf } from '../support/linking.ts'
import { confirmedPerson, newAddress } from '../support/people.ts'
import { sharedExternalServers } from '../support/shared-servers.ts'

suite('an address that its squatter leaves', () => {
  const servers = sharedExternalServers()

  test('leads nobody into their account who was on the way', async () => {
    const server = await servers()
    const { app } = server
    const [victim, own] = [newAddress('victim'), newAddress('own')]
    const mallory = await confirmedPerson(server)
    await link(server, mallory, 'github', unproven(victim, nextId()))
    await unlink(server, mallory, identityId(await userOf(server, mallory), 'email'))
    await link(server, mallory, 'gitlab', proven(own, nextId()))
    const squatting = await userOf(server, mallory)
    assert.deepEqual([squatting.email, squatting.email_confirmed_at], [victim, undefined])
    const github = identityId(squatting, 'github')
    describe(server.fakes, 'gitlab', proven(victim, nextId()))
    const back = await server.goTo('gitlab')

    const held = await holdPerson(app, mallory.user.id)
    const left = await held.queue(1, () => unlink(server, mallory, github))
    const coming = await held.queue(2, () => server.comeBack(back))
    await held.release()
    assert.equal((await left.answer).statusCode, 200)
    assert.equal((await userOf(server, mallory)).email, own)
    const { fragment, query } = await coming.answer
    assert.ok(fragment.access_token, JSON.stringify(query))
    assert.notEqual(decodeJwt(fragment.access_token).sub, mallory.user.id)
    assert.equal((await userOf(server, mallory)).identities?.length, 1)
  })
})
