/** The user of an address may change while a sign-in by it waits for a lock. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { decodeJwt } from 'jose'

import { describe, unverifiedProfile, verifiedProfile } from '../../support/external.ts'
import { fetchUser, identityId, link, nextId, unlink } from '../../support/linking.ts'
import { lockUserRow } from '../../support/locked-user.ts'
import { sharedExternalServers } from '../../support/processes/shared-servers.ts'
import { confirmedUser, newAddress } from '../../support/users.ts'

suite('email changed while its owner signs in', () => {
  const servers = sharedExternalServers()

  test('does not sign the owner in to the squatter’s account', async () => {
    const server = await servers()
    const { app } = server
    const [victim, own] = [newAddress('victim'), newAddress('own')]
    const mallory = await confirmedUser(server)
    await link(server, mallory, 'github', unverifiedProfile(victim, nextId()))
    await unlink(server, mallory, identityId(await fetchUser(server, mallory), 'email'))
    await link(server, mallory, 'gitlab', verifiedProfile(own, nextId()))
    const squatting = await fetchUser(server, mallory)
    assert.deepEqual([squatting.email, squatting.email_confirmed_at], [victim, undefined])
    const github = identityId(squatting, 'github')
    describe(server.fakes, 'gitlab', verifiedProfile(victim, nextId()))
    const back = await server.startSignIn('gitlab')

    const lock = await lockUserRow(app, mallory.user.id)
    const left = await lock.queue(1, () => unlink(server, mallory, github))
    const coming = await lock.queue(2, () => server.finishSignIn(back))
    await lock.release()
    assert.equal((await left.response).statusCode, 200)
    assert.equal((await fetchUser(server, mallory)).email, own)
    const { fragment, query } = await coming.response
    assert.ok(fragment.access_token, JSON.stringify(query))
    assert.notEqual(decodeJwt(fragment.access_token).sub, mallory.user.id)
    assert.equal((await fetchUser(server, mallory)).identities?.length, 1)
  })
})
